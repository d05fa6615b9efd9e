import { Refusal } from '../../errors.ts'
import { ExactNumber, getKey, type JsonObject, keysOf } from '../../json/json.ts'

/**
 * The first member of a file in which some objects stand for something else, with the number of its format. No data sent over REST has
 * it.
 */
export const FORMAT_KEY = '@svc.format'

/** The number of the format that a file says it is of; undefined if it is as it stands. */
export function formatOf(data: JsonObject): string | undefined {
  if (keysOf(data)[0] !== FORMAT_KEY) return undefined
  const value = getKey(data, FORMAT_KEY)
  if (typeof value === 'number') return String(value)
  return value instanceof ExactNumber ? value.literal.slice(0, 40) : undefined
}

/**
 * Refuses data of any format but `known` (`unsupported_format`), naming the file: a later server wrote it, and what some of its members
 * stand for must not be taken for what somebody wrote.
 */
export function assertKnownFormat(path: string, data: JsonObject, known?: string): void {
  const format = formatOf(data)
  if (format === known || format === undefined) return
  throw new Refusal(
    'unsupported_format',
    `${path} is of the format ${format}, which this server does not know: its first member is "${FORMAT_KEY}". Read it with a later ` +
      `version of the server, or leave that member out where somebody wrote it by hand.`,
  )
}
