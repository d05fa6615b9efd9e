import { z } from 'zod'
import { entriesOf, fromEntries, getKey } from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { curlyTags } from '../../run/templates.ts'
import { wordsOf } from '../routing/answers.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { queryParameters } from '../schemas/queries/query-parameters.ts'
import { version } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { type AskedPrompt, findPrompt, partsOf } from './found-prompt.ts'

/** The address at which LiteLLM reads prompts (interface 16.1), for the surface of applications. */
export function litellmEndpoint(context: SurfaceContext): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/beta/litellm_prompt_management',
    tag: 'clients of others',
    summary: 'A prompt as LiteLLM reads it: by environment, by version, or what runs in `production`',
    words: wordsOf(context),
    scope: 'read',
    input: z.object({
      prompt_id: z
        .string()
        .meta({ description: 'The slug of an application; `@` and an environment or a version may follow.' }),
      environment: z.string().optional(),
      version: version.optional(),
    }),
    fromQuery: queryParameters(['prompt_id', 'environment', 'version']),
    output: z.strictObject({
      prompt_id: z.string(),
      prompt_template: z.array(z.strictObject({ role: z.string(), content: z.string() })),
      prompt_template_model: z.string().optional(),
      prompt_template_optional_params: z.record(z.string(), z.unknown()).optional(),
    }),
    run: async ({ registry, input }) => {
      const { data } = await findPrompt(registry, context, asked(input))
      const { messages, llmConfig, templateFormat } = partsOf(data)
      const model = getKey(llmConfig, 'model')
      const params = entriesOf(llmConfig).filter(([key, value]) => value !== null && !OURS.includes(key))
      return {
        body: {
          prompt_id: input.prompt_id,
          prompt_template: messages.flatMap((it) =>
            'role' in it ? { role: it.role, content: inLiteLlm(it.content, templateFormat) } : [],
          ),
          ...(typeof model === 'string' ? { prompt_template_model: model } : {}),
          ...(params.length > 0 ? { prompt_template_optional_params: fromEntries(params) } : {}),
        },
      }
    },
  })
}

/** Settings of a model that are no parameters of a call: the model itself, and the name of a secret here. */
const OURS: readonly string[] = ['model', 'connection']

interface Input {
  readonly prompt_id: string
  readonly environment?: string | undefined
  readonly version?: number | undefined
}

/** A slug holds no `@`. What stands behind it says the same as the parameters, which are for those who cannot change the id. */
function asked({ prompt_id: id, environment, version }: Input): AskedPrompt {
  const at = id.indexOf('@')
  const after = at < 0 ? undefined : id.slice(at + 1)
  const isVersion = after !== undefined && /^[0-9]{1,15}$/.test(after)
  const named = [...(isVersion ? [] : [after]), environment].filter((it) => it !== undefined)
  const counted = [...(isVersion ? [Number(after)] : []), version].filter((it) => it !== undefined)
  const different = [...new Set<string | number>([...named, ...counted])]
  if (different.length > 1)
    throw new Refusal(
      'contradictory_request',
      `The request names ${different.join(' and ')}. Send one environment or one version, behind the @ of prompt_id or as a parameter.`,
    )
  return { name: at < 0 ? id : id.slice(0, at), label: named[0], version: counted[0] }
}

/**
 * A template with its variables as LiteLLM fills them, `{name}`: it replaces that text and nothing else. What has more than names in
 * braces is left as it is.
 */
function inLiteLlm(template: string, format: string): string {
  if (format === 'mustache' || format === 'jinja2')
    return template.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => `{${name}}`)
  if (format !== 'curly') return template
  let text = ''
  let done = 0
  for (const tag of curlyTags(template)) {
    text += template.slice(done, tag.from) + tag.text + (tag.name === undefined ? '' : `{${tag.name}}`)
    done = tag.to
  }
  return text + template.slice(done)
}
