import { type Json, type JsonObject, getKey, isJsonArray, isJsonObject, numberOf } from '../../json/json.ts'
import { readMessages } from '../../prompts/prompt-messages.ts'
import { TEMPLATE_FORMATS, type TemplateFormat } from '../../prompts/template-format.ts'
import { invalidParameter, missingParameter } from '../handler-failure.ts'
import { judgeFailureOf } from './judge-failure.ts'

/** How a judge judges (contract/handlers 2.8). */
export interface JudgeParameters {
  readonly messages: readonly JsonObject[]
  readonly templateFormat: TemplateFormat
  readonly model: string
  readonly connection: string | undefined
  readonly responseType: ResponseType
  /** Given with the response type `json_schema`, and only then. */
  readonly jsonSchema: JsonObject | undefined
  /** The name of the expected answer among the inputs. */
  readonly correctAnswerKey: string | undefined
  readonly threshold: number
}

const RESPONSE_TYPES = ['text', 'json_object', 'json_schema'] as const
export type ResponseType = (typeof RESPONSE_TYPES)[number]

/** Reads the parameters in the order of the contract, null as absent. Throws a `HandlerFailure` for the first that is wrong. */
export function readJudgeParameters(parameters: JsonObject): JudgeParameters {
  const messages = messagesOf(getKey(parameters, 'prompt_template'))
  const version = textOf(parameters, 'version') ?? '3'
  const templateFormat =
    choiceOf(parameters, 'template_format', TEMPLATE_FORMATS) ?? FORMATS.get(version) ?? 'curly'
  const model = textOf(parameters, 'model') ?? 'gpt-3.5-turbo'
  const connection = textOf(parameters, 'connection')
  const usual = version === '4' ? 'json_schema' : 'text'
  const responseType = choiceOf(parameters, 'response_type', RESPONSE_TYPES) ?? usual
  return {
    messages,
    templateFormat,
    model,
    connection,
    responseType,
    jsonSchema: responseType === 'json_schema' ? jsonSchemaOf(getKey(parameters, 'json_schema')) : undefined,
    correctAnswerKey: textOf(parameters, 'correct_answer_key'),
    threshold: thresholdOf(getKey(parameters, 'threshold')),
  }
}

/** Of versions whose format is another than curly. */
const FORMATS: ReadonlyMap<string, TemplateFormat> = new Map([
  ['2', 'fstring'],
  ['5', 'mustache'],
])

function messagesOf(template: Json | undefined): readonly JsonObject[] {
  if (template === undefined || template === null) throw missingParameter('prompt_template')
  if (!isJsonArray(template)) throw invalidParameter('prompt_template', 'list', template)
  try {
    return readMessages(template, 'prompt_template')
  } catch (error) {
    throw judgeFailureOf(error)
  }
}

function textOf(parameters: JsonObject, key: string): string | undefined {
  const value = getKey(parameters, key)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalidParameter(key, 'str', value)
  return value
}

function choiceOf<T extends string>(
  parameters: JsonObject,
  key: string,
  choices: readonly T[],
): T | undefined {
  const value = getKey(parameters, key)
  if (value === undefined || value === null) return undefined
  const choice = choices.find((one) => one === value)
  if (choice === undefined) throw invalidParameter(key, choices.join(' | '), value)
  return choice
}

function jsonSchemaOf(schema: Json | undefined): JsonObject {
  if (schema === undefined || schema === null) throw missingParameter('json_schema')
  if (!isJsonObject(schema)) throw invalidParameter('json_schema', 'dict', schema)
  return schema
}

/** Falsy is the default (contract/handlers 2.2, P7); whole numbers are numbers, too (P6). */
function thresholdOf(threshold: Json | undefined): number {
  if (threshold === undefined || threshold === null || threshold === false || threshold === '')
    return DEFAULT_THRESHOLD
  const number = numberOf(threshold)
  if (number === undefined) throw invalidParameter('threshold', 'float', threshold)
  return number === 0 ? DEFAULT_THRESHOLD : number
}

const DEFAULT_THRESHOLD = 0.5
