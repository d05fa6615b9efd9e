import type { MemberReader } from '../documents/closed-object.ts'
import { formatValueForPeople } from '../documents/shown-value.ts'

/** Reads a member that must be one of a few words; `name` is what the sentence calls it. */
export function oneOfWords(name: string, words: readonly string[]): MemberReader {
  return (value, problems) => {
    if (typeof value === 'string' && words.includes(value)) return value
    problems.add(
      `${name} must be one of ${words.join(', ')}, but it is ${formatValueForPeople(value)}`,
      'enum',
    )
    return undefined
  }
}
