import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { type Json, JsonTextError, parseJson } from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { systemProblem } from './system-problem.ts'
import { UsageError } from './usage-error.ts'

/** `NAME=VALUE` of an option. Throws a UsageError that names the option for anything else. */
export function pairOf(pair: string, option: string, usage: string): readonly [string, string] {
  const at = pair.indexOf('=')
  if (at < 1) throw new UsageError(`${option}: "${pair}" has no name before a "=".`, usage)
  return [pair.slice(0, at), pair.slice(at + 1)]
}

/** What a text says as JSON, exactly; the text itself if it is no JSON. */
export function jsonOrText(value: string): Json {
  try {
    return parseJson(value)
  } catch (error) {
    if (error instanceof JsonTextError) return value
    throw error
  }
}

/** The JSON of a file, exactly; of standard input for `-`. Refuses what cannot be read, and what is no JSON, naming option and line. */
export async function readJsonFile(path: string, option: string): Promise<Json> {
  return readJson(path === '-' ? await text(process.stdin) : contentOf(path, option), `${option}: "${path}"`)
}

/** The JSON of a text, exactly. Refuses what is no JSON; `where` begins the sentence. */
export function readJson(content: string, where: string): Json {
  try {
    return parseJson(content)
  } catch (error) {
    if (error instanceof JsonTextError) throw new Refusal('invalid_request', `${where}: ${error.message}`)
    throw error
  }
}

function contentOf(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const problem = systemProblem(error)
    throw problem === undefined
      ? error
      : new Refusal('invalid_request', `${option}: "${path}" cannot be read: ${problem}.`)
  }
}
