import { getKey, type JsonObject } from '../../base/json.ts'

/** How outputs are sent: at once, or piece by piece as a line or an event each. */
export type OutputForm = 'json' | 'ndjson' | 'events'

/**
 * The form of an answer (interface 12.5): the first known media type that Accept names without q=0. Where it names none: JSON, unless `flags.stream` asks for a stream, which comes as NDJSON.
 */
export function negotiateOutput(accept: string | undefined, flags: JsonObject | undefined): OutputForm {
  const named = accept === undefined || accept === '*/*' ? undefined : formNamed(accept)
  const flag = flags && getKey(flags, 'stream')
  if (named === 'ndjson' || named === 'events') return flag === false ? 'json' : named
  if (flag === true && named === undefined) return 'ndjson'
  return 'json'
}

/** The media types that streams are asked for by, and sent as. */
export const STREAM_TYPES: readonly string[] = ['text/event-stream', 'application/x-ndjson']

function formNamed(accept: string): OutputForm | undefined {
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const form = FORMS.get(type)
    if (form && !parameters.some((it) => /^q=0(?:\.0*)?$/.test(it))) return form
  }
  return undefined
}

const FORMS: ReadonlyMap<string, OutputForm> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['text/event-stream', 'events'],
])
