import {
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  isJsonArray,
  isJsonObject,
} from '../../../base/json.ts'
import { TimeSlice } from '../../../base/scheduling.ts'

/** Shorter texts are likely to be parts of other words, so masking them would damage the answer. */
const MIN_MASKED_LENGTH = 8

/**
 * Masks every secret in the value's strings and keys that is long enough not to match ordinary words. Works
 * in slices.
 */
export async function maskSecrets(value: Json, secrets: readonly string[]): Promise<Json> {
  const parts = partsOf(secrets).filter((part) => part.length >= MIN_MASKED_LENGTH)
  return parts.length === 0 ? value : maskIn(value, parts, new TimeSlice())
}

/**
 * Masks every secret in an error's text, even short ones, because a damaged sentence is better than a leaked
 * secret.
 */
export function maskSecretsInText(text: string, secrets: readonly string[]): string {
  return maskText(text, partsOf(secrets))
}

/**
 * The secrets, and the part after the scheme in those such as `Bearer sk-…`; each also as escaped in JSON
 * text. Longest first.
 */
function partsOf(secrets: readonly string[]): readonly string[] {
  const parts = [...new Set(secrets)].flatMap((secret) => [
    secret,
    secret.trim(),
    ...secret.split(/[\s,;=:]+/).filter((part) => part.length >= MIN_MASKED_LENGTH),
  ])
  const escaped = parts.map((part) => JSON.stringify(part).slice(1, -1))
  return [...new Set([...parts, ...escaped])]
    .filter((part) => part !== '')
    .sort((a, b) => b.length - a.length)
}

function maskIn(value: Json, parts: readonly string[], slice: TimeSlice): Json | Promise<Json> {
  if (typeof value === 'string') return maskText(value, parts)
  if (isJsonArray(value)) return maskItems(value, parts, slice)
  return isJsonObject(value) ? maskMembers(value, parts, slice) : value
}

async function maskItems(array: readonly Json[], parts: readonly string[], slice: TimeSlice): Promise<Json> {
  const masked: Json[] = []
  await slice.each(array, (item) => {
    const one = maskIn(item, parts, slice)
    return one instanceof Promise ? one.then((it) => masked.push(it)) : masked.push(one)
  })
  return masked
}

async function maskMembers(object: JsonObject, parts: readonly string[], slice: TimeSlice): Promise<Json> {
  const masked: [string, Json][] = []
  await slice.each(entriesOf(object), ([name, member]) => {
    const key = maskText(name, parts)
    const one = maskIn(member, parts, slice)
    return one instanceof Promise ? one.then((it) => masked.push([key, it])) : masked.push([key, one])
  })
  return fromEntries(masked)
}

function maskText(text: string, parts: readonly string[]): string {
  return parts.reduce((masked, part) => masked.replaceAll(part, '***'), text)
}
