import type { JsonObject } from '../../../base/json.ts'
import { Fields, readMessages } from '../../templates/prompt-object.ts'
import { TEMPLATE_FORMATS, type TemplateFormat } from '../../templates/template-format.ts'
import { readFreeThreshold } from '../scoring.ts'

/** The parameters of a judge (interface 11.17). */
export interface JudgeParameters {
  readonly messages: readonly JsonObject[]
  readonly templateFormat: TemplateFormat
  readonly model: string
  readonly connection: string | undefined
  readonly responseType: ResponseType
  /** Set only with the response type `json_schema`. */
  readonly jsonSchema: JsonObject | undefined
  /** The input with the expected answer. */
  readonly correctAnswerKey: string | undefined
  readonly threshold: number
}

const RESPONSE_TYPES = ['text', 'json_object', 'json_schema'] as const

/** The requested format of the model's reply. */
export type ResponseType = (typeof RESPONSE_TYPES)[number]

/**
 * Reads the parameters in the order of refusals, null as absent. For the first invalid one, throws a
 * `PromptProblem`, or a `HandlerFailure` for the threshold.
 */
export function readJudgeParameters(parameters: JsonObject): JudgeParameters {
  const fields = new Fields(parameters, '')
  const template = fields.required('prompt_template', fields.list('prompt_template'), 'list')
  const messages = readMessages(template, 'prompt_template')
  const version = fields.text('version') ?? '3'
  const templateFormat = fields.choice('template_format', TEMPLATE_FORMATS) ?? FORMATS.get(version) ?? 'curly'
  const model = fields.text('model') ?? 'gpt-3.5-turbo'
  const connection = fields.text('connection')
  const usual = version === '4' ? 'json_schema' : 'text'
  const responseType = fields.choice('response_type', RESPONSE_TYPES) ?? usual
  return {
    messages,
    templateFormat,
    model,
    connection,
    responseType,
    jsonSchema:
      responseType === 'json_schema'
        ? fields.required('json_schema', fields.object('json_schema'), 'dict')
        : undefined,
    correctAnswerKey: fields.text('correct_answer_key'),
    threshold: readFreeThreshold(fields.json('threshold')),
  }
}

/** The format by version, where it is not curly. */
const FORMATS: ReadonlyMap<string, TemplateFormat> = new Map([
  ['2', 'fstring'],
  ['5', 'mustache'],
])
