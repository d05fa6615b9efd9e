import { createHash } from 'node:crypto'
import type { Ident } from '../../git/objects.ts'
import { fromEntries, type Json, type JsonObject } from '../../base/json.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { objectUuid, repositoryDigits, type Reference } from '../../registry/registries.ts'
import { isoSeconds, type Revision, type CommitMessage } from '../../registry/revisions.ts'
import type { EventType, Webhook } from './webhook.ts'

/** An event of an artifact, computed from git. */
export interface RegistryEvent {
  /** Made only of the event's content, so that a repeated computation gives the same id. */
  readonly id: string
  readonly type: EventType
  /** The time in git: RFC 3339, in seconds. */
  readonly timestamp: string
  readonly artifact: ArtifactView
  /** The artifacts that were deployed or undeployed. */
  readonly deployed: readonly Reference[]
  readonly data: JsonObject
}

/** The data for an event. */
export interface Happening {
  readonly type: EventType
  /** The commit that caused it, or else a text that distinguishes it from others of its type. */
  readonly cause: string
  /** The changed part of the artifact: a variant's slug, a revision's id; empty for the artifact itself. */
  readonly subject: string
  readonly seconds: number
  /** Its rank within its second: a revision's is its version, so that a fork comes between its start and its own revisions. */
  readonly rank: number
  /** By names like `workflow_variant` (interface 13.9). */
  readonly references: readonly (readonly [string, Json])[]
  readonly actor: Pick<Ident, 'name' | 'email'>
  /** The commit's message and subject. */
  readonly said?: Pick<CommitMessage, 'message' | 'subject'>
  readonly diff?: JsonObject
  readonly deployed?: readonly Reference[]
}

/** Makes the event. */
export function registryEvent(artifact: ArtifactView, happening: Happening): RegistryEvent {
  const { type, cause, subject, seconds, references, actor, said, diff, deployed = [] } = happening
  const { family, digits } = artifact
  const identity = createHash('sha1').update([type, cause, subject].join('\n')).digest('hex')
  return {
    id: objectUuid(identity, digits),
    type,
    timestamp: isoSeconds(seconds),
    artifact,
    deployed,
    data: fromEntries([
      ['family', family.folder],
      ['references', fromEntries(references)],
      ['actor', { name: actor.name, email: actor.email }],
      ...(said ? saidIn(said) : []),
      ...(diff === undefined ? [] : [['diff', diff] as const]),
    ]),
  }
}

/** Maximum characters of a message in an event; the revision has all of it. */
const MOST_CHARACTERS = 4000

function saidIn({ message, subject }: Pick<CommitMessage, 'message' | 'subject'>): [string, Json][] {
  const isCut = Math.max(message?.length ?? 0, subject.length) > MOST_CHARACTERS
  return [
    ...(message === undefined ? [] : [['message', cut(message)] satisfies [string, Json]]),
    ['subject', cut(subject)],
    ...(isCut ? [['truncated', true] satisfies [string, Json]] : []),
  ]
}

/** The beginning of a text, without cutting a character in half. */
function cut(text: string): string {
  return text.length <= MOST_CHARACTERS
    ? text
    : text.slice(0, MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, '')
}

/** An event's reference to the artifact. */
export function artifactReference({ family, id, slug }: ArtifactView): readonly [string, Json] {
  return [family.name, { id, slug }]
}

/** An event's references to a revision, its variant and its artifact (interface 5.15). */
export function revisionReferences({
  artifact,
  variant,
  id,
  slug,
  version,
}: Revision): readonly (readonly [string, Json])[] {
  const { name } = artifact.family
  return [
    artifactReference(artifact),
    [`${name}_variant`, { id: variant.id, slug: variant.slug }],
    [`${name}_revision`, { id, slug, version }],
  ]
}

/** Whether the webhook wants an event. */
export function matchesFilters(
  { events, filters }: Webhook,
  { type, artifact, deployed }: RegistryEvent,
): boolean {
  const { families, artifacts, environments } = filters
  if (events.length > 0 && !events.includes(type)) return false
  if (families && !families.includes(artifact.family.folder)) return false
  if (environments && (!artifact.family.pins || !isAmong(environments, [artifact]))) return false
  return !artifacts || isAmong(artifacts, [artifact, ...deployed])
}

/** Whether the webhook's filters name this artifact or environment. */
export function namesArtifact({ filters }: Webhook, artifact: RegistryEvent['artifact']): boolean {
  const { families, artifacts = [], environments = [] } = filters
  const { family } = artifact
  if (family.pins && isAmong(environments, [artifact])) return true
  // The slug alone may belong to another family.
  if (families && !families.includes(family.folder)) return artifacts.some(({ id }) => isIdOf(artifact, id))
  return isAmong(artifacts, [artifact])
}

function isIdOf(artifact: RegistryEvent['artifact'], id: string | undefined): boolean {
  return id !== undefined && isAmong([{ id }], [artifact])
}

interface Named {
  readonly id?: string | undefined
  readonly slug?: string | undefined
}

/** Whether one of the things is named; all ids of an artifact's parts end in its digits. */
function isAmong(names: readonly Named[], things: readonly Named[]): boolean {
  return names.some(({ id, slug }) =>
    things.some((thing) =>
      id === undefined
        ? slug !== undefined && slug === thing.slug
        : thing.id !== undefined && repositoryDigits(id) === repositoryDigits(thing.id),
    ),
  )
}
