import { createHash } from 'node:crypto'
import type { Ident } from '../../git/objects.ts'
import { fromEntries, type Json, type JsonObject } from '../../base/json.ts'
import type { ArtifactView } from '../../registry/artifacts.ts'
import { objectUuid, repositoryDigits, type Reference } from '../../registry/registries.ts'
import { isoSeconds, type Revision, type CommitMessage } from '../../registry/revisions.ts'
import type { EventType, Webhook } from './webhook.ts'

/** Something that happened to an artifact, as git has it. */
export interface RegistryEvent {
  /** Made of what happened alone, so that what is worked out twice is known to be one. */
  readonly id: string
  readonly type: EventType
  /** When, as git has it: RFC 3339, in seconds. */
  readonly timestamp: string
  readonly artifact: ArtifactView
  /** The artifacts that were deployed or undeployed. */
  readonly deployed: readonly Reference[]
  readonly data: JsonObject
}

/** What an event is made of. */
export interface Happening {
  readonly type: EventType
  /** The commit that made it so, or what tells it from others of its type otherwise. */
  readonly cause: string
  /** What of the artifact it is about: a variant's slug, a revision's id; empty for the artifact itself. */
  readonly subject: string
  readonly seconds: number
  /** Its place within its second: a revision's is its version, so that a fork comes between where it began and what it adds. */
  readonly rank: number
  /** By names like `workflow_variant` (interface 13.9). */
  readonly references: readonly (readonly [string, Json])[]
  readonly actor: Pick<Ident, 'name' | 'email'>
  /** What the commit says. */
  readonly said?: Pick<CommitMessage, 'message' | 'subject'>
  readonly diff?: JsonObject
  readonly deployed?: readonly Reference[]
}

/** The event of what happened to an artifact. */
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

/** An event says no more of a message than this many characters; the revision has the whole. */
const MOST_CHARACTERS = 4000

function saidIn({ message, subject }: Pick<CommitMessage, 'message' | 'subject'>): [string, Json][] {
  const isCut = Math.max(message?.length ?? 0, subject.length) > MOST_CHARACTERS
  return [
    ...(message === undefined ? [] : [['message', cut(message)] satisfies [string, Json]]),
    ['subject', cut(subject)],
    ...(isCut ? [['truncated', true] satisfies [string, Json]] : []),
  ]
}

/** The beginning of a text, which never ends in half of a character. */
function cut(text: string): string {
  return text.length <= MOST_CHARACTERS
    ? text
    : text.slice(0, MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, '')
}

/** How an event refers to the artifact itself. */
export function artifactReference({ family, id, slug }: ArtifactView): readonly [string, Json] {
  return [family.name, { id, slug }]
}

/** How an event refers to a revision and what it belongs to (interface 5.15). */
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

/** Whether an event is one that the webhook asks for. */
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

/** Whether the webhook asks for events of this very artifact, or environment. */
export function namesArtifact({ filters }: Webhook, artifact: RegistryEvent['artifact']): boolean {
  const { families, artifacts = [], environments = [] } = filters
  const { family } = artifact
  if (family.pins && isAmong(environments, [artifact])) return true
  // A slug may be that of another family's.
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

/** Whether one of the things is named; everything of an artifact has an id that ends in the same digits. */
function isAmong(names: readonly Named[], things: readonly Named[]): boolean {
  return names.some(({ id, slug }) =>
    things.some((thing) =>
      id === undefined
        ? slug !== undefined && slug === thing.slug
        : thing.id !== undefined && repositoryDigits(id) === repositoryDigits(thing.id),
    ),
  )
}
