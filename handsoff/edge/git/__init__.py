"""Git: the only room that imports pygit2 and the only one that runs the git command."""
