// The Git journal: what is live in Git.
export {};
