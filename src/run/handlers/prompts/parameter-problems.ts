import {
  boundedJson,
  entriesOf,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../base/json.ts'
import type { ModelProblem, Models } from '../../models/models.ts'
import {
  Fields,
  type LlmConfig,
  PromptProblem,
  readMessages,
  readPrompt,
} from '../../templates/prompt-object.ts'
import { RenderBudget } from '../../templates/render-budget.ts'
import { assertReadable } from '../../templates/render-template.ts'
import { TEMPLATE_FORMATS, TemplateFailure, type TemplateFormat } from '../../templates/template-format.ts'
import { HandlerFailure } from '../handler-failure.ts'
import { readJudgeParameters } from '../evaluators/judge-parameters.ts'
import { readLlms } from './llm.ts'

/** A problem that makes every run of a workflow fail; `target` is its place in `data`. */
export interface ParameterProblem {
  readonly code: 'invalid_parameter' | 'unreadable_template' | ModelProblem['code']
  readonly message: string
  readonly target: readonly (string | number)[]
}

const MOST_TEMPLATES = 20

/**
 * Finds problems of the parameters of a handler that calls a model, for any inputs: the first of a wrong type
 * or range; else each malformed template, and each model that cannot be called because it has no provider, no
 * key or no such connection. Other handlers' parameters have no problems here.
 */
export async function parameterProblems(
  key: string | undefined,
  parameters: JsonObject,
  models: Models,
): Promise<readonly ParameterProblem[]> {
  const read = READERS.get(key ?? '')
  if (!read) return []
  try {
    const written = read(parameters)
    return [...templateProblems(written), ...(await modelProblems(written, models))]
  } catch (error) {
    if (error instanceof PromptProblem) return [problemOf(error)]
    if (!(error instanceof HandlerFailure)) throw error
    return [{ code: 'invalid_parameter', message: error.message, target: ['parameters'] }]
  }
}

/** Steps from the top of the parameters. */
type Place = readonly (string | number)[]

/** The parameters that a handler reads before it calls a model. */
interface Written {
  readonly format: TemplateFormat
  /** The messages and their place in the parameters. */
  readonly messages: { readonly at: string; readonly list: readonly JsonObject[] }
  /** Values whose texts and keys are also templates. */
  readonly formats: readonly { readonly at: Place; readonly value: Json | undefined }[]
  readonly models: readonly (Pick<LlmConfig, 'model' | 'connection'> & { readonly at: string })[]
}

const READERS: ReadonlyMap<string, (parameters: JsonObject) => Written> = new Map([
  ['completion', writtenPrompt],
  ['chat', writtenPrompt],
  ['auto_ai_critique', writtenJudge],
  ['llm', writtenLlm],
])

function writtenPrompt(parameters: JsonObject): Written {
  const fields = new Fields(parameters, '')
  const prompt = readPrompt(fields.required('prompt', fields.object('prompt'), 'dict'))
  return {
    format: prompt.templateFormat,
    messages: { at: 'prompt.messages', list: prompt.messages },
    formats: [
      { at: ['prompt', 'llm_config', 'response_format'], value: prompt.llmConfig.responseFormat },
      ...prompt.fallbackConfigs.map(({ responseFormat }, index) => ({
        at: ['prompt', 'fallback_configs', index, 'response_format'],
        value: responseFormat,
      })),
    ],
    models: [
      { ...prompt.llmConfig, at: 'prompt.llm_config.model' },
      ...prompt.fallbackConfigs.map((config, at) => ({
        ...config,
        at: `prompt.fallback_configs[${at}].model`,
      })),
    ],
  }
}

function writtenJudge(parameters: JsonObject): Written {
  const { templateFormat, messages, model, connection, jsonSchema } = readJudgeParameters(parameters)
  return {
    format: templateFormat,
    messages: { at: 'prompt_template', list: messages },
    formats: [{ at: ['json_schema'], value: jsonSchema }],
    models: [{ model, connection, at: 'model' }],
  }
}

function writtenLlm(parameters: JsonObject): Written {
  const fields = new Fields(parameters, '')
  const list = readMessages(fields.list('messages') ?? [], 'messages')
  return {
    format: fields.choice('template_format', TEMPLATE_FORMATS) ?? 'curly',
    messages: { at: 'messages', list },
    formats: [],
    models: readLlms(fields).map((config) => ({ ...config, at: 'llms' })),
  }
}

function templateProblems({ format, messages, formats }: Written): readonly ParameterProblem[] {
  const budget = new RenderBudget()
  const problems: ParameterProblem[] = []
  const list = placeOf(messages.at)
  let current: Place = list
  const keepProblem = (look: () => void): void => {
    try {
      look()
    } catch (error) {
      if (!(error instanceof TemplateFailure)) throw error
      if (problems.length === MOST_TEMPLATES) return
      problems.push({
        code: 'unreadable_template',
        message: error.message,
        target: ['parameters', ...current],
      })
    }
  }
  const look = (text: string, at: Place): void => {
    current = at
    if (problems.length < MOST_TEMPLATES) keepProblem(() => assertReadable(format, text, budget))
  }
  const lookAtAll = (): void => {
    for (const [index, message] of messages.list.entries())
      for (const { at, text } of textsOf(message, [...list, index, 'content'])) look(text, at)
    for (const { at, value } of formats)
      for (const { at: place, text } of textsIn(value, at)) look(text, place)
  }
  // All texts share one clock; if it runs out, the problem is at the text that was being read.
  keepProblem(() => budget.timed(lookAtAll))
  return problems
}

interface PlacedTemplate {
  readonly at: Place
  readonly text: string
}

function textsOf(message: JsonObject, at: Place): readonly PlacedTemplate[] {
  const content = getKey(message, 'content')
  if (typeof content === 'string') return [{ at, text: content }]
  if (!isJsonArray(content)) return []
  return content.flatMap((part, index) => {
    const text = isJsonObject(part) && getKey(part, 'type') === 'text' ? getKey(part, 'text') : undefined
    return typeof text === 'string' ? [{ at: [...at, index, 'text'], text }] : []
  })
}

/** Every text and key of a value, as `renderJson` renders them. */
function* textsIn(value: Json | undefined, at: Place): Generator<PlacedTemplate> {
  if (typeof value === 'string') yield { at, text: value }
  else if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, [...at, index])
  } else if (isJsonObject(value)) {
    for (const [key, member] of entriesOf(value)) {
      yield { at: [...at, key], text: key }
      yield* textsIn(member, [...at, key])
    }
  }
}

async function modelProblems(written: Written, models: Models): Promise<readonly ParameterProblem[]> {
  const problems: ParameterProblem[] = []
  for (const { model, connection, at } of written.models) {
    const problem = await models.problemOf({ model, connection })
    if (problem) problems.push({ ...problem, target: ['parameters', ...placeOf(at)] })
  }
  return problems
}

function problemOf({ path, expected, got }: PromptProblem): ParameterProblem {
  const message =
    got === undefined ? `is needed: ${expected}` : `has to be ${expected}, but it is ${boundedJson(got, 80)}`
  return { code: 'invalid_parameter', message, target: ['parameters', ...placeOf(path)] }
}

/** The steps of `prompt.messages[0].content`. */
function placeOf(path: string): Place {
  const steps = path.match(/[^.[\]]+/g) ?? []
  return steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}
