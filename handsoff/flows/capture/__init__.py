"""From a checkout to a state that may leave: page, carry list, guard, pack."""
