/** A text that people write: a string of a payload that has its own lines, and goes on from one revision to the next (interface 7.16). */
export interface PlacedText {
  /** The keys and indexes that lead to it from `data`. */
  readonly keys: readonly (string | number)[]
  /** The same as a JSON Pointer. */
  readonly pointer: string
  /** Of what a message says: the pointer of its array, and its role where that is a string. */
  readonly message?: { readonly array: string; readonly role: string | undefined }
  readonly text: string
}
