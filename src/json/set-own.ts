/** Makes a key an own one, `__proto__` too: assigning to that would call its setter, and defining every key is slower than assigning. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
