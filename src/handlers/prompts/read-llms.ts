import { getKey, isJsonObject, withKey } from '../../json/json.ts'
import { Fields } from '../../prompts/fields.ts'
import { type LlmConfig, MOST_MODELS, readLlmConfig } from '../../prompts/llm-config.ts'
import { invalidParameter } from '../handler-failure.ts'

/**
 * The models of the parameters, in their order, each with the external tools; those that name no model are left out. Throws a
 * `PromptProblem`, or a `HandlerFailure` when none is left.
 */
export function readLlms(parameters: Fields): readonly [LlmConfig, ...LlmConfig[]] {
  const tools = new Fields(parameters.object('tools') ?? {}, 'tools').list('external') ?? []
  const [first, ...others] = (parameters.list('llms', MOST_MODELS) ?? []).flatMap(
    (entry, index): LlmConfig[] => {
      const path = `llms[${index}]`
      if (isJsonObject(entry) && (getKey(entry, 'model') ?? '') === '') return []
      return [readLlmConfig(isJsonObject(entry) ? withKey(entry, 'tools', tools) : entry, path)]
    },
  )
  if (first) return [first, ...others]
  throw invalidParameter('llms', 'list[llm]', parameters.json('llms'))
}
