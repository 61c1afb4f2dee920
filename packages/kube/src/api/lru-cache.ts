/** A map that keeps the most recently used entries. */
export interface LruCache<K, V> {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
}

/** @param most entries; beyond it, the least recently used one is removed */
export const lruCache = <K, V>(most: number): LruCache<K, V> => {
  const entries = new Map<K, V>();
  const set = (key: K, value: V): void => {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size > most) entries.delete(entries.keys().next().value as K);
  };
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    delete: (key) => void entries.delete(key),
  };
};
