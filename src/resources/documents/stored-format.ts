import { Refusal } from '../../errors.ts'
import { ExactNumber, keysOf, getKey, type JsonObject } from '../../json/json.ts'

/**
 * The first member of a `data.json` that is not written as this server writes it, with the number of its format. No data sent over REST has
 * it.
 */
const FORMAT_KEY = '@svc.format'

/**
 * Refuses data that a later server wrote (`unsupported_format`), naming the file: in its format some members stand for others, and
 * must not be taken for what somebody wrote.
 */
export function assertKnownFormat(path: string, data: JsonObject): void {
  const format = formatOf(data)
  if (format === undefined) return
  throw new Refusal(
    'unsupported_format',
    `${path} is of the format ${format}, which this server does not know: its first member is "${FORMAT_KEY}". Read it with a later ` +
      `version of the server, or leave that member out where somebody wrote it by hand.`,
  )
}

function formatOf(data: JsonObject): string | undefined {
  if (keysOf(data)[0] !== FORMAT_KEY) return undefined
  const value = getKey(data, FORMAT_KEY)
  if (typeof value === 'number') return String(value)
  return value instanceof ExactNumber ? value.literal.slice(0, 40) : undefined
}
