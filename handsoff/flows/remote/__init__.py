"""What the remote has of ours: asked, compared with what others saw, put back, left there."""
