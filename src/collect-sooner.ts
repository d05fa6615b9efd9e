import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 collect once a heap has grown by two fifths since it did so last. By itself it lets a small one grow to four times what is alive
 * (measured: 54 MB to 228), so that the memory of a server under steady load rises for an hour, and nobody can tell that from a leak.
 * For when a server is ready: what a start reads in stays, and would be looked through again and again.
 */
export function collectSooner(): void {
  setFlagsFromString('--heap-growing-percent=40')
}
