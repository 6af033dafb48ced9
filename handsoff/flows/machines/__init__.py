"""A machine and a clone set up; two machines paired; new keys."""
