import { entriesOf, isJsonArray, isJsonObject, type Json } from './json.ts'

/** How many items and members a value holds at any depth; it is not looked through once there are more than `most`. */
export function countValues(value: Json | undefined, most: number): number {
  let count = 0
  const open = [value]
  while (open.length > 0 && count <= most) {
    const next = open.pop()
    if (isJsonArray(next)) {
      count += next.length
      if (count <= most) for (const item of next) open.push(item)
    } else if (isJsonObject(next)) {
      const members = entriesOf(next)
      count += members.length
      if (count <= most) for (const [, member] of members) open.push(member)
    }
  }
  return count
}
