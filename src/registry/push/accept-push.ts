import { parseCommit, type Oid, parseTag } from '../../git/objects.ts'
import type { IncomingObjects } from '../../git/receive.ts'
import { transactAcross } from '../../git/store.ts'
import type { Transaction } from '../../git/transactions.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { assertActive, assertUnguarded } from '../revisions/revision.ts'
import type { Warning, Family } from '../payload/family.ts'
import { readBytes } from '../payload/tree-files.ts'
import { shadowWarnings } from '../slugs/shadowed-slugs.ts'
import { objectUuid } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'
import type { WriteContext } from '../store/write-context.ts'
import { PushedHistory, movedOn } from './check-pushed-history.ts'
import { type PushLimits, checkPushedObjects } from './check-pushed-objects.ts'
import { type Pusher, noteArrivals } from './push-notes.ts'
import {
  type RefCommand,
  type RefOutcome,
  branchSlug,
  refRefusalOf,
  tagSlug,
  type RefRefusal,
  assertNewBranch,
  assertNewTag,
} from './ref-command.ts'
import type { ArtifactState, VariantRecord } from '../artifacts/artifact-record.ts'
import { commitChange } from '../artifacts/change-artifact.ts'
import { stateNow } from '../artifacts/artifact-view.ts'
import { NamesInUse } from '../slugs/claim-slugs.ts'
import { claimTag, claimVariant } from '../index/slug-table.ts'
import { newVariant } from '../variants/create-variant.ts'

/** A push whose objects are in quarantine. */
export interface Push {
  /** None that `checkRefCommand` refuses, each ref once. */
  readonly commands: readonly (RefCommand & { readonly target: Oid })[]
  readonly incoming: IncomingObjects
  /** All refs are to move, or none (gitprotocol-capabilities(5)). */
  readonly isAtomic: boolean
  readonly limits: PushLimits
  readonly pusher: Pusher
  /** Whether it may be told the names of other artifacts. */
  readonly mayRead: boolean
  /** The client has gone; nobody shall go on looking at what it sent. */
  readonly signal: AbortSignal
}

/**
 * Takes a push in: the same write as a commit over REST, with its queue, journal and compare-and-set. Resolves with what became of
 * each command once everything is on the disk and the next request sees it.
 */
export async function acceptPush(
  registry: Registry,
  artifact: ArtifactView,
  push: Push,
  context: WriteContext,
): Promise<readonly RefOutcome[]> {
  const { family, source } = artifact
  const { commands, incoming } = push
  try {
    // Again when it is written; but who may not write at all need not wait until everything was looked at.
    assertUnguarded(family, source.state.artifact, context.actor)
    assertActive('artifact', artifact.slug, source.state.artifact)
    const { checked, brought } = await checkAll(registry, artifact, push)
    if (isLost(push, checked)) return givenUp(checked)
    const take = await incoming.prepare()
    const job = async (transaction: Transaction): Promise<readonly RefOutcome[]> => {
      const outcomes = await applyRefCommands(registry, artifact, checked, context, transaction)
      const isWhole = outcomes.every(({ refused }) => !refused)
      if (push.isAtomic && !isWhole) throw new AtomicRefused(outcomes)
      take(transaction)
      const tips = checked.filter((_, index) => !outcomes[index]?.refused).map(({ target }) => target)
      const arrived = isWhole ? brought : await reached(incoming, tips, brought)
      await noteArrivals(registry, arrived, push.pusher, context, transaction)
      return outcomes
    }
    push.signal.throwIfAborted()
    const write = (): Promise<readonly RefOutcome[]> => writeTo(artifact, incoming, job)
    const isNew = commands.some(({ expected }) => expected === undefined)
    const store = async (): Promise<readonly RefOutcome[]> => {
      const outcomes = await write()
      return outcomes.every(({ refused }) => refused)
        ? outcomes
        : withWarnings(await present(registry, artifact, checked, outcomes, push.mayRead), checked)
    }
    return await (isNew ? registry.store.claimingSlugs(store) : store())
  } catch (error) {
    if (error instanceof AtomicRefused) return givenUp(error.outcomes)
    const refused = refRefusalOf(error)
    return commands.map(({ ref }) => ({ ref, refused }))
  }
}

/** A ref of an atomic push is refused, so none of them moves. */
class AtomicRefused extends Error {
  override readonly name = 'AtomicRefused'
  readonly outcomes: readonly RefOutcome[]

  constructor(outcomes: readonly RefOutcome[]) {
    super('a ref of an atomic push was refused')
    this.outcomes = outcomes
  }
}

/** Of more commands than these, all are refused when something is wrong with the objects of one. */
const MOST_LOOKS = 100

/** The commands with why those are refused whose objects or history are not as they should be, and the commits that all of them bring. */
async function checkAll(
  registry: Registry,
  artifact: ArtifactView,
  push: Push,
): Promise<{ readonly checked: readonly CheckedCommand[]; readonly brought: readonly Oid[] }> {
  const { commands, incoming, limits, signal } = push
  const brought = new Set<Oid>()
  const checkObjects = async (some: readonly { readonly target: Oid }[]): Promise<void> => {
    const tips = some.map(({ target }) => target)
    for (const oid of await checkPushedObjects(incoming, tips, limits, signal)) brought.add(oid)
  }
  // Of several, only those shall be refused that something is wrong with; git looks at each by itself then.
  const isGood = await checkObjects(commands).then(
    () => true,
    (error: unknown) => {
      if (commands.length === 1 || commands.length > MOST_LOOKS) throw error
      return false
    },
  )
  const history = new PushedHistory(registry, artifact, incoming, signal)
  const checked: CheckedCommand[] = []
  for (const command of commands) {
    try {
      if (!isGood) await checkObjects([command])
      checked.push({ ...command, warnings: await history.check(command) })
    } catch (error) {
      checked.push({ ...command, refused: refRefusalOf(error) })
    }
  }
  return { checked, brought: [...brought] }
}

/** The outcomes with what there is to know of what was taken. */
function withWarnings(
  outcomes: readonly RefOutcome[],
  checked: readonly CheckedCommand[],
): readonly RefOutcome[] {
  return outcomes.map((outcome, index) => {
    const { warnings = [] } = checked[index] ?? {}
    if (outcome.refused || warnings.length === 0) return outcome
    return { ...outcome, warnings: [...(outcome.warnings ?? []), ...warnings] }
  })
}

/** Those of the commits that the tips reach: a ref that was refused brings none. */
async function reached(
  incoming: IncomingObjects,
  tips: readonly Oid[],
  commits: readonly Oid[],
): Promise<readonly Oid[]> {
  const wanted = new Set(commits)
  const found: Oid[] = []
  const unread: Oid[] = []
  for (const tip of tips) {
    let [oid, object] = [tip, await incoming.read(tip)]
    while (object?.kind === 'tag') {
      oid = parseTag(object.bytes).object
      object = await incoming.read(oid)
    }
    unread.push(oid)
  }
  const slice = new TimeSlice()
  for (let oid = unread.pop(); oid !== undefined; oid = unread.pop()) {
    if (!wanted.delete(oid)) continue
    found.push(oid)
    const { parents } = parseCommit(await readBytes(incoming, oid, 'commit'))
    for (const parent of parents) unread.push(parent)
    if (slice.isOver) await slice.rest()
  }
  return found
}

function isLost({ isAtomic }: Push, checked: readonly CheckedCommand[]): boolean {
  return isAtomic ? checked.some(({ refused }) => refused) : checked.every(({ refused }) => refused)
}

/** Nothing moves: who was not refused has the others to thank. */
function givenUp(outcomes: readonly Pick<RefOutcome, 'ref' | 'refused'>[]): readonly RefOutcome[] {
  return outcomes.map(({ ref, refused }) => ({
    ref,
    refused: refused ?? {
      reason: 'atomic push failed',
      sentence: `${ref} would have moved, but not without the others.`,
    },
  }))
}

/** A large push has its turn alone: those that wait could not read a pack that is not in place yet. */
function writeTo(
  { repository }: ArtifactView,
  incoming: IncomingObjects,
  job: (transaction: Transaction) => Promise<readonly RefOutcome[]>,
): Promise<readonly RefOutcome[]> {
  if (incoming.isSmall) return repository.transact(job)
  return transactAcross([repository], ([transaction]) => {
    if (!transaction) throw new Error('a write has a transaction for its repository')
    return job(transaction)
  })
}

/** More refs than these are not left in a file each, which every look at the repository would read. */
const MANY = 256

const MAX_SLUG_WARNINGS = 100

/**
 * Has the registry take in what was written, and says which revisions the branches have come to, and which new slugs mean something else
 * where they stand alone.
 */
async function present(
  registry: Registry,
  artifact: ArtifactView,
  commands: readonly RefCommand[],
  outcomes: readonly RefOutcome[],
  mayRead: boolean,
): Promise<readonly RefOutcome[]> {
  if (commands.length > MANY) await artifact.repository.packRefs()
  const written = await registry.index.written(artifact.family, artifact.slug)
  const presented: RefOutcome[] = []
  let warned = 0
  const warningsOf = async ({ ref, expected }: RefCommand): Promise<readonly Warning[]> => {
    const [variant, tag] = [branchSlug(ref), tagSlug(ref)]
    if (expected !== undefined || warned >= MAX_SLUG_WARNINGS) return []
    const made = variant === undefined ? (['tag', tag ?? ''] as const) : (['variant', variant] as const)
    const warnings = await shadowWarnings(registry, written, [made], mayRead)
    warned += warnings.length
    return warnings
  }
  await new TimeSlice().each(outcomes, async (outcome, index) => {
    const command = commands[index]
    if (outcome.refused || command?.target === undefined) return presented.push(outcome)
    const { target } = command
    const told = { ...outcome, warnings: await warningsOf(command) }
    const variant = branchSlug(outcome.ref)
    if (variant === undefined) return presented.push(told)
    const { depth } = await written.repository.history.node(target)
    return presented.push({
      ...told,
      revision: { id: objectUuid(target, written.digits), slug: `${variant}-${depth}` },
    })
  })
  return presented
}

/** A command whose objects were found good, or why they were not. */
interface CheckedCommand extends RefCommand {
  readonly target: Oid
  readonly refused?: RefRefusal
  /** What its pusher should know of the revisions that it brings. */
  readonly warnings?: readonly Warning[]
}

/**
 * Moves the refs of a push in a transaction of its artifact's repository, as far as what is there now allows: the artifact and
 * its variants are not archived, nobody was faster, no name clashes. A branch that is new becomes a variant with a record of
 * who brought it. Answers what became of each command.
 */
async function applyRefCommands(
  registry: Registry,
  artifact: ArtifactView,
  commands: readonly CheckedCommand[],
  context: WriteContext,
  transaction: Transaction,
): Promise<readonly RefOutcome[]> {
  const state = await stateNow(artifact, transaction)
  assertUnguarded(artifact.family, state.artifact, context.actor)
  assertActive('artifact', artifact.slug, state.artifact)
  const { family } = artifact
  const move = {
    registry,
    family,
    state,
    context,
    transaction,
    names: NamesInUse.of(state, transaction),
    records: new Map<string, VariantRecord>(),
    tags: new Map<string, string>(),
  }
  const { records, tags }: RefMove = move
  const outcomes: RefOutcome[] = []
  await new TimeSlice().each(commands, (command) => {
    const { ref, refused } = command
    if (refused) return outcomes.push({ ref, refused })
    try {
      moveRef(command, move)
      return outcomes.push({ ref })
    } catch (error) {
      return outcomes.push({ ref, refused: refRefusalOf(error) })
    }
  })
  const made = [
    ['Create variant', [...records.keys()]],
    ['Name revision', [...tags.keys()]],
  ] as const
  const subject = made
    .flatMap(([what, slugs]) => (slugs.length > 0 ? `${what} ${firstOf(slugs)}` : []))
    .join('; ')
  if (subject !== '') {
    const all = tags.size > 0 ? { tags: new Map([...(state.tags ?? []), ...tags]) } : {}
    await commitChange(
      registry,
      artifact,
      state,
      { subject, variants: Object.fromEntries(records), ...all },
      context,
      transaction,
    )
  }
  return outcomes
}

function firstOf(slugs: readonly string[]): string {
  return `${slugs.slice(0, 3).join(', ')}${slugs.length > 3 ? ' …' : ''}`
}

/** What the refs of a push are moved in. */
interface RefMove {
  readonly registry: Registry
  readonly family: Family
  readonly state: ArtifactState
  readonly context: WriteContext
  readonly transaction: Transaction
  readonly names: NamesInUse
  /** The records of variants that come to be. */
  readonly records: Map<string, VariantRecord>
  /** Since when tags are there that come to be. */
  readonly tags: Map<string, string>
}

function moveRef({ ref, expected, target }: CheckedCommand, move: RefMove): void {
  const { registry, family, state, context, transaction, names, records, tags } = move
  if (transaction.ref(ref) !== expected) throw movedOn(ref)
  const [branch, tag] = [branchSlug(ref), tagSlug(ref)]
  if (branch !== undefined) {
    assertActive('variant', branch, state.variants.get(branch))
    if (expected === undefined) {
      assertNewBranch(names, branch)
      claimVariant(transaction, family, branch)
      if (!state.variants.has(branch)) {
        if (!names.hasVariant) transaction.setDerivedRef('HEAD', `ref: refs/heads/${branch}`)
        records.set(branch, newVariant(registry, branch, { header: {} }, context))
      }
    }
    names.addVariant(branch)
  }
  if (tag !== undefined) {
    assertNewTag(names, tag)
    names.addTag(tag)
    claimTag(transaction, family, tag)
    tags.set(tag, registry.now().toISOString())
  }
  transaction.move(ref, target)
}
