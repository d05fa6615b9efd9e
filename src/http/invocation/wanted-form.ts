import { getKey, type JsonObject } from '../../base/json.ts'

/** The form of outputs: at once, or in pieces as lines or events. */
export type OutputForm = 'json' | 'ndjson' | 'events'

/**
 * The form of an answer (interface 12.5): the first known media type in Accept without q=0. Without one: JSON, or NDJSON if `flags.stream`
 * requests a stream.
 */
export function negotiateOutput(accept: string | undefined, flags: JsonObject | undefined): OutputForm {
  const named = accept === undefined || accept === '*/*' ? undefined : formNamed(accept)
  const flag = flags && getKey(flags, 'stream')
  if (named === 'ndjson' || named === 'events') return flag === false ? 'json' : named
  if (flag === true && named === undefined) return 'ndjson'
  return 'json'
}

/** The media types of streams, in Accept and Content-Type. */
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
