import { z } from 'zod'
import { entriesOf, isJsonObject, type Json } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import { type ArtifactView, queryArtifacts, type RecordedArtifact } from '../../registry/artifacts.ts'
import { type Registry, unlessDamaged } from '../../registry/registries.ts'
import { dateOf, latestOf, readRevisionAt } from '../../registry/revisions.ts'
import { inWordsOf } from '../routing/answers.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { queryParameters } from '../schemas/queries/query-parameters.ts'
import { version } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { dataOf, findPrompt, labelsOf, partsOf, type PromptMessage } from './found-prompt.ts'

/** Versions of one prompt that a list names: the newest. */
const MOST_VERSIONS = 1000

const type = z.enum(['chat', 'text'])
const texts = z.array(z.string())
const config = z.record(z.string(), z.unknown())
const message = z.union([
  z.strictObject({ role: z.string(), content: z.string() }),
  z.strictObject({ type: z.literal('placeholder'), name: z.string() }),
])

/** The addresses at which Langfuse's SDKs read prompts (interface 16.1), for the surface of applications. */
export function langfuseEndpoints(context: SurfaceContext): Endpoint[] {
  const tag = 'clients of others'
  const list = endpoint({
    method: 'GET',
    path: '/api/public/v2/prompts',
    tag,
    summary: "Prompts as Langfuse's SDKs list them, by name",
    scope: 'read',
    input: z.object({
      page: wholeNumber(1_000_000).optional(),
      limit: wholeNumber(100).optional(),
      name: z.string().optional(),
      label: z.string().optional(),
      tag: z.string().optional().meta({ description: 'A tag as `key:value`, or its value alone.' }),
    }),
    fromQuery: queryParameters(['page', 'limit', 'name', 'label', 'tag']),
    output: z.strictObject({
      data: z.array(
        z.strictObject({
          name: z.string(),
          type,
          versions: z
            .array(z.int())
            .meta({ description: `The newest ${MOST_VERSIONS}, in ascending order.` }),
          truncated: z.literal(true).optional(),
          labels: texts,
          tags: texts,
          lastUpdatedAt: z.string(),
          lastConfig: config,
        }),
      ),
      meta: z.strictObject({ page: z.int(), limit: z.int(), totalItems: z.int(), totalPages: z.int() }),
    }),
    run: async ({ registry, input: { page = 1, limit = 10, ...filter }, untilGone }) => {
      const slice = new TimeSlice(untilGone())
      const found = await promptsOf(registry, context, filter, slice)
      const shown = found.slice((page - 1) * limit, page * limit)
      const labels = await labelsOf(registry, shown)
      const data = await slice.map(shown, (artifact) =>
        unlessDamaged(registry, artifact, () => presentListed(artifact, labels.get(artifact.id), context)),
      )
      const meta = { page, limit, totalItems: found.length, totalPages: Math.ceil(found.length / limit) }
      return { body: { data: data.filter((it) => it !== undefined), meta } }
    },
  })
  const one = endpoint({
    method: 'GET',
    path: '/api/public/v2/prompts/:name',
    params: z.object({ name: z.string().meta({ description: 'The slug of an application.' }) }),
    tag,
    summary: "A prompt as Langfuse's SDKs read it: by label, by version, or what runs in `production`",
    scope: 'read',
    input: z.object({
      label: z.string().optional().meta({ description: 'An environment, or `latest`.' }),
      version: version.optional(),
      resolve: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Whether what the prompt embeds is filled in: it is unless this is `false`.' }),
    }),
    fromQuery: queryParameters(['label', 'version', 'resolve']),
    output: z.strictObject({
      name: z.string(),
      version: z.int(),
      type,
      prompt: z.union([z.string(), z.array(message)]),
      config,
      labels: texts,
      tags: texts,
      commitMessage: z.string().nullable(),
    }),
    run: async ({ registry, params: { name = '' }, input: { label, version: number, resolve } }) => {
      if (label !== undefined && number !== undefined)
        throw new Refusal(
          'contradictory_request',
          `The request names the label ${label} and the version ${number}. Send one of them.`,
        )
      const asked = { name, label, version: number }
      const { revision, data } = await findPrompt(registry, context, asked, resolve === 'false')
      const { artifact, oid, stored } = revision
      const labels = [...((await labelsOf(registry, [artifact])).get(artifact.id) ?? [])]
      const parts = partsOf(data)
      return {
        body: {
          name: artifact.slug,
          version: revision.version,
          ...presentMessages(parts.messages),
          config: parts.config,
          labels: labels.flatMap(([it, commit]) => (commit === oid ? it : [])),
          tags: tagsOf(artifact).map((words) => words.join(':')),
          commitMessage: stored.message ?? null,
        },
      }
    },
  })
  return inWordsOf(context, [list, one])
}

function wholeNumber(most: number) {
  const problem = `must be a whole number from 1 to ${most}`
  return z.coerce.number(problem).int(problem).min(1, problem).max(most, problem)
}

/** The prompts that have a version and match, by name. */
async function promptsOf(
  registry: Registry,
  { surface: { family, fixedFlags } }: SurfaceContext,
  { name, label, tag }: Readonly<Partial<Record<'name' | 'label' | 'tag', string>>>,
  slice: TimeSlice,
): Promise<readonly ArtifactView[]> {
  const { rows } = await queryArtifacts(registry, family, { filter: { slug: name }, roles: fixedFlags })
  const isTagged = (row: RecordedArtifact): boolean =>
    tagsOf(row).some(([key, value]) => tag === value || tag === `${key}:${value}`)
  const ids = new Set(rows.flatMap((row) => (tag === undefined || isTagged(row) ? row.id : [])))
  const found: ArtifactView[] = []
  await slice.each((await registry.index.list(family)).rows, (row) => {
    if (ids.has(row.id) && row.view.defaultVariant?.head !== undefined) found.push(row.view)
  })
  found.sort((a, b) => (a.slug < b.slug ? -1 : 1))
  const labels = label === undefined ? undefined : await labelsOf(registry, found)
  return found.filter(({ id }) => label === undefined || labels?.get(id)?.has(label))
}

async function presentListed(
  artifact: ArtifactView,
  labels: ReadonlyMap<string, string> | undefined,
  context: SurfaceContext,
): Promise<object | undefined> {
  const latest = artifact.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
  if (!latest) return undefined
  const revision = await readRevisionAt(latest)
  const parts = partsOf(await dataOf(revision, context))
  const older = Math.max(0, latest.version - MOST_VERSIONS)
  return {
    name: artifact.slug,
    type: presentMessages(parts.messages).type,
    versions: Array.from({ length: latest.version - older }, (_, index) => older + index + 1),
    ...(older > 0 ? { truncated: true } : {}),
    labels: [...(labels?.keys() ?? [])],
    tags: tagsOf(artifact).map((words) => words.join(':')),
    lastUpdatedAt: dateOf(revision),
    lastConfig: parts.config,
  }
}

/** One message of a user is a text; everything else is a chat. */
function presentMessages(messages: readonly PromptMessage[]): {
  readonly type: string
  readonly prompt: unknown
} {
  const [first] = messages
  if (first && messages.length === 1 && 'role' in first && first.role === 'user')
    return { type: 'text', prompt: first.content }
  return {
    type: 'chat',
    prompt: messages.map((it) => ('placeholder' in it ? { type: 'placeholder', name: it.placeholder } : it)),
  }
}

/** The tags of an artifact as keys and values; the keys of tags in tags are joined by dots. */
function tagsOf({ record: { tags } }: RecordedArtifact): (readonly [key: string, value: string])[] {
  const among = (value: Json | undefined, key: string): (readonly [string, string])[] =>
    isJsonObject(value)
      ? entriesOf(value).flatMap(([name, member]) => among(member, key === '' ? name : `${key}.${name}`))
      : value === undefined
        ? []
        : [[key, String(value)]]
  return among(tags, '')
}
