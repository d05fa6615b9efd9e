/**
 * A text that people write: a string of a payload with its own lines, which is tracked across revisions
 * (interface 7.16).
 */
export interface PlacedText {
  /** The keys and indexes that lead to it from `data`. */
  readonly keys: readonly (string | number)[]
  /** The same as a JSON Pointer. */
  readonly pointer: string
  /** For the content of a message: its array's pointer, and its role if that is a string. */
  readonly message?: { readonly array: string; readonly role: string | undefined }
  readonly text: string
}
