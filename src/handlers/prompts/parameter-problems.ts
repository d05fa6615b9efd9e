import { boundedJson } from '../../json/bounded-json.ts'
import { getKey, isJsonArray, isJsonObject, type JsonObject } from '../../json/json.ts'
import type { Models } from '../../models/models.ts'
import { Fields } from '../../prompts/fields.ts'
import type { LlmConfig } from '../../prompts/llm-config.ts'
import { readMessages } from '../../prompts/prompt-messages.ts'
import { readPrompt } from '../../prompts/prompt-object.ts'
import { PromptProblem } from '../../prompts/prompt-problem.ts'
import { RenderBudget } from '../../prompts/templates/render-budget.ts'
import { assertReadable } from '../../prompts/templates/render-template.ts'
import {
  TEMPLATE_FORMATS,
  TemplateFailure,
  type TemplateFormat,
} from '../../prompts/templates/template-format.ts'
import { HandlerFailure } from '../handler-failure.ts'
import { readJudgeParameters } from '../judge/judge-parameters.ts'
import { readLlms } from './llm.ts'

/** What makes every run of a workflow fail: `target` is its place from the top of `data`. */
export interface ParameterProblem {
  readonly code: 'invalid_parameter' | 'unreadable_template' | 'unknown_model'
  readonly message: string
  readonly target: readonly (string | number)[]
}

/** More templates that cannot be read are not named. */
const MOST_TEMPLATES = 20

/**
 * What is wrong with the parameters of a handler that asks a model, whatever the inputs are: the first that is of another type or range
 * than a run takes; else each template that cannot be read, and each model that no provider can have. Parameters of other handlers have no
 * problems here.
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

/** What a handler reads of its parameters before it asks a model. */
interface Written {
  readonly format: TemplateFormat
  /** By where they are in the parameters. */
  readonly messages: { readonly at: string; readonly list: readonly JsonObject[] }
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
  const { templateFormat, messages, model, connection } = readJudgeParameters(parameters)
  return {
    format: templateFormat,
    messages: { at: 'prompt_template', list: messages },
    models: [{ model, connection, at: 'model' }],
  }
}

function writtenLlm(parameters: JsonObject): Written {
  const fields = new Fields(parameters, '')
  const list = readMessages(fields.list('messages') ?? [], 'messages')
  return {
    format: fields.choice('template_format', TEMPLATE_FORMATS) ?? 'curly',
    messages: { at: 'messages', list },
    models: readLlms(fields).map((config) => ({ ...config, at: 'llms' })),
  }
}

function templateProblems({ format, messages }: Written): readonly ParameterProblem[] {
  const budget = new RenderBudget()
  const problems: ParameterProblem[] = []
  for (const [index, message] of messages.list.entries()) {
    for (const { at, text } of textsOf(message, `${messages.at}[${index}].content`)) {
      if (problems.length === MOST_TEMPLATES) return problems
      try {
        assertReadable(format, text, budget)
      } catch (error) {
        if (!(error instanceof TemplateFailure)) throw error
        problems.push({ code: 'unreadable_template', message: error.message, target: placeOf(at) })
      }
    }
  }
  return problems
}

function textsOf(message: JsonObject, at: string): readonly { readonly at: string; readonly text: string }[] {
  const content = getKey(message, 'content')
  if (typeof content === 'string') return [{ at, text: content }]
  if (!isJsonArray(content)) return []
  return content.flatMap((part, index) => {
    const text = isJsonObject(part) && getKey(part, 'type') === 'text' ? getKey(part, 'text') : undefined
    return typeof text === 'string' ? [{ at: `${at}[${index}].text`, text }] : []
  })
}

async function modelProblems(written: Written, models: Models): Promise<readonly ParameterProblem[]> {
  const problems: ParameterProblem[] = []
  for (const { model, connection, at } of written.models) {
    // A connection may lead to anybody, who may have any models.
    const message = connection === undefined ? await models.problemOf(model) : undefined
    if (message !== undefined) problems.push({ code: 'unknown_model', message, target: placeOf(at) })
  }
  return problems
}

function problemOf({ path, expected, got }: PromptProblem): ParameterProblem {
  const message =
    got === undefined ? `is needed: ${expected}` : `has to be ${expected}, but it is ${boundedJson(got, 80)}`
  return { code: 'invalid_parameter', message, target: placeOf(path) }
}

/** `prompt.messages[0].content` of the parameters, from the top of `data`. */
function placeOf(path: string): readonly (string | number)[] {
  const steps = path.match(/[^.[\]]+/g) ?? []
  return ['parameters', ...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))]
}
