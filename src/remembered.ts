/** What is known under a key; made when it is first asked for. */
export function remembered<K extends object, V>(
  known: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
}
