import { canonicalJson } from '../../json/canonical-json.ts'
import { getKey, hasKey, type Json, type JsonObject, keysOf, withoutKey } from '../../json/json.ts'
import type { LlmConfig } from '../../prompts/llm-config.ts'
import { type Prompt, readPrompt } from '../../prompts/prompt-object.ts'
import { promptVariables, unwrapInputs } from '../../prompts/prompt-variables.ts'
import { RenderBudget } from '../../prompts/templates/render-budget.ts'
import { renderJson } from '../../prompts/render-json.ts'
import { renderMessages } from '../../prompts/render-messages.ts'
import { invalidInputs, missingParameter } from '../handler-failure.ts'
import type { HandlerRequest } from '../handler.ts'

/** A prompt that is ready to be sent. */
export interface PreparedPrompt extends Pick<Prompt, 'fallbackPolicy' | 'retries'> {
  readonly messages: readonly JsonObject[]
  /** The models to ask, in this order as far as the policy allows. */
  readonly configs: readonly [LlmConfig, ...LlmConfig[]]
  /** The inputs as they are meant; undefined when there are none. */
  readonly inputs: JsonObject | undefined
}

/**
 * Reads and renders the prompt of a request (interface 11.18). The inputs `reserved` are no variables of it. Without inputs it is
 * left as it is written, unless it says which it needs. Throws a `HandlerFailure`, a `PromptProblem` or a `TemplateFailure`.
 */
export function preparedPrompt(request: HandlerRequest, reserved: readonly string[] = []): PreparedPrompt {
  const written = getKey(request.parameters, 'prompt') ?? undefined
  if (written === undefined) throw missingParameter('prompt')
  const prompt = readPrompt(written)
  const inputs = request.inputs && unwrapInputs(request.inputs)
  requireKeys(prompt.inputKeys ?? [], inputs, reserved)
  const { fallbackPolicy, retries } = prompt
  const rest = { inputs, fallbackPolicy, retries }
  if (!inputs)
    return { ...rest, messages: prompt.messages, configs: [prompt.llmConfig, ...prompt.fallbackConfigs] }
  const variables = promptVariables(reserved.reduce<JsonObject>(withoutKey, inputs))
  const budget = new RenderBudget()
  const rendered = (config: LlmConfig, place: string): LlmConfig => ({
    ...config,
    responseFormat: renderFormat(prompt, config, place, variables, budget),
  })
  return {
    ...rest,
    messages: renderMessages(prompt.templateFormat, prompt.messages, variables, budget),
    configs: [
      rendered(prompt.llmConfig, 'llm_config'),
      ...prompt.fallbackConfigs.map((config, index) => rendered(config, `fallback_configs[${index}]`)),
    ],
  }
}

function requireKeys(
  required: readonly string[],
  inputs: JsonObject | undefined,
  reserved: readonly string[],
): void {
  const provided = inputs ?? {}
  if (required.every((key) => reserved.includes(key) || hasKey(provided, key))) return
  const needed = required.filter((key) => !reserved.includes(key))
  throw invalidInputs(canonicalJson([...needed].sort()), keysOf(provided).sort())
}

function renderFormat(
  { templateFormat }: Prompt,
  { responseFormat }: LlmConfig,
  place: string,
  variables: JsonObject,
  budget: RenderBudget,
): JsonObject | undefined {
  if (!responseFormat) return undefined
  const rendered: Json = renderJson(
    templateFormat,
    responseFormat,
    `${place}.response_format`,
    variables,
    budget,
  )
  // An object renders to an object.
  return rendered as JsonObject
}
