// A map whose changed copies cost little, however large it is: the latest changes are kept beside it.

/** A map whose `recent` changes count before `base`; undefined in `recent` stands for a removed key. */
export interface LargeMap<K, V> {
  readonly base: ReadonlyMap<K, V>;
  readonly recent: ReadonlyMap<K, V | undefined>;
  readonly size: number;
}

/** The most changes that are copied each time, before the whole map is. */
const MOST_RECENT = 256;

export const largeMap = <K, V>(base: ReadonlyMap<K, V> = new Map()): LargeMap<K, V> => ({
  base,
  recent: new Map(),
  size: base.size,
});

export const valueAt = <K, V>({ base, recent }: LargeMap<K, V>, key: K): V | undefined =>
  recent.has(key) ? recent.get(key) : base.get(key);

export const entriesOf = <K, V>({ base, recent }: LargeMap<K, V>): ReadonlyMap<K, V> => {
  if (recent.size === 0) return base;
  const all = new Map(base);
  for (const [key, value] of recent)
    if (value === undefined) all.delete(key);
    else all.set(key, value);
  return all;
};

/** Sets the value at the key; undefined removes it. */
export const withValue = <K, V>(map: LargeMap<K, V>, key: K, value: V | undefined): LargeMap<K, V> => {
  const before = valueAt(map, key);
  if (before === value) return map;
  const size = map.size + (value === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
  const changed = { base: map.base, recent: new Map(map.recent).set(key, value), size };
  return changed.recent.size > MOST_RECENT ? largeMap(entriesOf(changed)) : changed;
};
