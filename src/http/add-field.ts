import { Refusal } from '../errors.ts'

/** Adds a text field; the same again is harmless, another value under the name is refused (`contradictory_request`). */
export function addField(fields: Map<string, string>, name: string, value: string): void {
  const before = fields.get(name)
  if (before !== undefined && before !== value) {
    throw new Refusal(
      'contradictory_request',
      `The field ${JSON.stringify(name.slice(0, 80))} is sent twice with different values; send it once.`,
    )
  }
  fields.set(name, value)
}
