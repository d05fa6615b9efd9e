import type { IncomingHttpHeaders } from 'node:http'
import { hasKey, withKey, type JsonObject } from '../../base/json.ts'

/** The flags of an invocation: those of its body, and those that headers set (interface 12.5). Unknown values of headers are ignored. */
export function flagsOf(
  inBody: JsonObject | undefined,
  headers: IncomingHttpHeaders,
): JsonObject | undefined {
  let flags = inBody
  for (const { header, value, flag, is } of SUGAR) {
    if (headers[header] !== value || (flags && hasKey(flags, flag))) continue
    flags = withKey(flags ?? NONE, flag, is)
  }
  return flags
}

const NONE: JsonObject = {}

const SUGAR = [
  { header: 'x-svc-messages-transcript', value: 'last', flag: 'trim', is: true },
  { header: 'x-svc-messages-transcript', value: 'full', flag: 'trim', is: false },
  { header: 'x-svc-session-control', value: 'force', flag: 'force', is: true },
  { header: 'x-svc-workflow-embeds', value: 'resolve', flag: 'resolve', is: true },
] as const
