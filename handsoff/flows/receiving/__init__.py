"""A listener, and parcels that come in or are fetched from here."""
