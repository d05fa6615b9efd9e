import { entriesOf, fromEntries, getKey, isJsonArray, isJsonObject } from '../../base/json.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { type ArtifactView, slugProblem } from '../../registry/artifacts.ts'
import { deployedCommits } from '../../registry/environments.ts'
import { LargeDocument } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import { latestOf, readRevisionAt, resolveArtifact, retrieveRevision } from '../../registry/revisions.ts'
import type { Revision, RevisionLocation } from '../../registry/revisions.ts'
import { presentPayload } from '../revisions/record.ts'
import { DEFAULT_EMBED_OPTIONS, resolveEmbedsOf } from '../revisions/resolve-embeds.ts'
import { shown } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** The label of the default variant's latest revision; every other label is an environment. */
const LATEST = 'latest'

/** The prompt that a request names: an application's slug, and a label or a version of its default variant (interface 16.3). */
export interface AskedPrompt {
  readonly name: string
  readonly label?: string | undefined
  readonly version?: number | undefined
}

/**
 * The revision of an application that a client of another product names, and its data; what that embeds is filled in unless `isStored`.
 * Refuses with `…_not_found`, and where no version has the label, names the labels that there are.
 */
export async function findPrompt(
  registry: Registry,
  context: SurfaceContext,
  asked: AskedPrompt,
  isStored = false,
): Promise<{ readonly revision: Revision; readonly data: JsonObject }> {
  const revision = await readRevisionAt(await placeOf(registry, context, asked))
  const data = await dataOf(revision, context)
  if (isStored) return { revision, data }
  const { surface, present } = context
  const host = { id: revision.id, slug: revision.slug }
  const options = { ...DEFAULT_EMBED_OPTIONS, host, versionType: present.versionType }
  const resolved = await resolveEmbedsOf(registry, surface.family, data, options)
  return { revision, data: resolved.data ?? data }
}

async function placeOf(
  registry: Registry,
  { surface }: SurfaceContext,
  { name, label = 'production', version }: AskedPrompt,
): Promise<RevisionLocation> {
  const problem = slugProblem(name)
  if (problem !== undefined)
    throw new Refusal('artifact_not_found', `There is no prompt ${shown(name)}: the name ${problem}.`)
  const artifact = await resolveArtifact(registry, surface.family, { slug: name })
  if (Object.keys(surface.fixedFlags).some((flag) => artifact.record.flags?.[flag] !== true))
    throw new Refusal(
      'artifact_not_found',
      `"${name}" is no application, and only applications are prompts here.`,
    )
  const references = { artifact: { slug: name, version } }
  if (version !== undefined || label === LATEST)
    return retrieveRevision(registry, surface.family, references, surface)
  if (slugProblem(label) !== undefined) throw await unlabelled(registry, artifact, label)
  const environment = { artifact: { slug: label } }
  try {
    return await retrieveRevision(registry, surface.family, { ...references, environment }, surface)
  } catch (error) {
    const isMissing = error instanceof Refusal && /^(?:environment|deployment)_not_found$/.test(error.code)
    throw isMissing ? await unlabelled(registry, artifact, label) : error
  }
}

async function unlabelled(registry: Registry, artifact: ArtifactView, label: string): Promise<Refusal> {
  const labels = [...((await labelsOf(registry, [artifact])).get(artifact.id)?.keys() ?? [])]
  return new Refusal(
    'deployment_not_found',
    `The prompt "${artifact.slug}" has no version with the label ${shown(label)}. Its labels are ${labels.join(', ') || 'none yet'}: a ` +
      `label is an environment that a version is deployed to, or "${LATEST}".`,
  )
}

/** The labels of prompts, each with the commit that has it, by the artifact's id. */
export async function labelsOf(
  registry: Registry,
  artifacts: readonly ArtifactView[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const labels = await deployedCommits(registry, artifacts)
  for (const artifact of artifacts) {
    const latest = artifact.defaultVariant && (await latestOf(artifact, artifact.defaultVariant))
    if (latest) labels.get(artifact.id)?.set(LATEST, latest.oid)
  }
  return labels
}

/** The data of a prompt's revision as it is stored. */
export async function dataOf(revision: Revision, { present }: SurfaceContext): Promise<JsonObject> {
  if (revision.stored.payload instanceof LargeDocument) throw revision.stored.payload.refusal()
  const data = (await presentPayload(revision, present))?.data as Json | undefined // a document, as of all workflows
  return isJsonObject(data) ? data : {}
}

/** What the data of an application says to a model. */
export interface PromptParts {
  readonly messages: readonly PromptMessage[]
  readonly llmConfig: JsonObject
  readonly templateFormat: string
  /** The settings of the model, and the other parameters. */
  readonly config: JsonObject
}

/** A message as text, or the name of a list of messages that is put in its place. */
export type PromptMessage =
  { readonly role: string; readonly content: string } | { readonly placeholder: string }

/** Reads the prompt of an application from its data, whatever of it is missing or of another type. */
export function partsOf(data: JsonObject): PromptParts {
  const parameters = objectIn(data, 'parameters')
  const prompt = objectIn(parameters, 'prompt')
  const llmConfig = objectIn(prompt, 'llm_config')
  const rest = [...entriesOf(parameters), ...entriesOf(prompt)].filter(([key]) => !APART.includes(key))
  const format = getKey(prompt, 'template_format') ?? getKey(parameters, 'template_format')
  return {
    messages: messagesIn(getKey(prompt, 'messages') ?? getKey(parameters, 'messages') ?? spelledOut(prompt)),
    llmConfig,
    templateFormat: typeof format === 'string' ? format : 'curly',
    // The settings of the model come first, and win over other parameters of the same names.
    config: fromEntries(new Map([...entriesOf(llmConfig), ...rest, ...entriesOf(llmConfig)])),
  }
}

/** What is answered by itself, and not with the settings. */
const APART: readonly string[] = ['prompt', 'messages', 'system_prompt', 'user_prompt', 'llm_config']

function objectIn(object: JsonObject, key: string): JsonObject {
  const value = getKey(object, key)
  return isJsonObject(value) ? value : {}
}

/** The messages of a prompt that has its texts by themselves. */
function spelledOut(prompt: JsonObject): Json[] {
  return ['system', 'user'].flatMap((role) => {
    const content = getKey(prompt, `${role}_prompt`)
    return typeof content === 'string' && content !== '' ? { role, content } : []
  })
}

function messagesIn(messages: Json): readonly PromptMessage[] {
  return (isJsonArray(messages) ? messages : []).filter(isJsonObject).map((message) => {
    const [role, name] = ['role', 'name'].map((key) => getKey(message, key))
    if (role === 'placeholder') return { placeholder: typeof name === 'string' ? name : '' }
    return { role: typeof role === 'string' ? role : 'user', content: textOf(getKey(message, 'content')) }
  })
}

/** A content as one text: of one in parts, the parts that are text, joined. */
function textOf(content: Json | undefined): string {
  if (!isJsonArray(content)) return typeof content === 'string' ? content : ''
  const texts = content.map((part) => (isJsonObject(part) ? getKey(part, 'text') : undefined))
  return texts.filter((text) => typeof text === 'string').join('')
}
