"""View models: what pages and lists show of works, machines and findings."""
