import {
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  isJsonArray,
  isJsonObject,
} from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'

/** A shorter text is likely to be part of other words, and is left alone where it would spoil them. */
const LONG_ENOUGH = 8

/**
 * The value with every secret in its strings and keys masked that is long enough to be told from ordinary words. Others have their turn
 * meanwhile.
 */
export async function maskSecrets(value: Json, secrets: readonly string[]): Promise<Json> {
  const parts = partsOf(secrets).filter((part) => part.length >= LONG_ENOUGH)
  return parts.length === 0 ? value : maskIn(value, parts, new TimeSlice())
}

/** The text of an error with every secret masked, however short: better a sentence spoilt than a secret shown. */
export function maskSecretsInText(text: string, secrets: readonly string[]): string {
  return maskText(text, partsOf(secrets))
}

/**
 * Secrets as a whole and, since some are `Bearer sk-…`, what follows the scheme by itself; each also as the text of an answer has it that
 * is JSON. Longest first.
 */
function partsOf(secrets: readonly string[]): readonly string[] {
  const parts = [...new Set(secrets)].flatMap((secret) => [
    secret,
    secret.trim(),
    ...secret.split(/[\s,;=:]+/).filter((part) => part.length >= LONG_ENOUGH),
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
