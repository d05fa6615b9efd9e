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
  /** Each ref once, and none that `checkRefCommand` refuses. */
  readonly commands: readonly (RefCommand & { readonly target: Oid })[]
  readonly incoming: IncomingObjects
  /** Whether all refs move, or none (gitprotocol-capabilities(5)). */
  readonly isAtomic: boolean
  readonly limits: PushLimits
  readonly pusher: Pusher
  /** Whether the pusher may learn the names of other artifacts. */
  readonly mayRead: boolean
  /** Aborted when the client is gone, so that checks stop. */
  readonly signal: AbortSignal
}

/**
 * Accepts a push: the same write as a commit over REST, with its queue, journal and compare-and-set. Resolves with the outcome of each
 * command once everything is on the disk and the next request sees it.
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
    // The write checks this again; this early check spares a key without permission the wait for all other checks.
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

/** One ref of an atomic push is refused, so none moves. */
class AtomicRefused extends Error {
  override readonly name = 'AtomicRefused'
  readonly outcomes: readonly RefOutcome[]

  constructor(outcomes: readonly RefOutcome[]) {
    super('a ref of an atomic push was refused')
    this.outcomes = outcomes
  }
}

/** With more commands than this, all are refused if the objects of one have a problem. */
const MOST_LOOKS = 100

/** Checks the objects and history of all commands; answers the commands, with the reasons of refused ones, and the commits in the push. */
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
  // If the common check fails, git checks the objects of each command separately, so that only bad ones are refused.
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

/** Adds the warnings about accepted commits to the outcomes. */
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

/** The commits that the accepted tips reach: a refused ref brings none. */
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

/** No ref moves: commands without a fault of their own are refused because of the others. */
function givenUp(outcomes: readonly Pick<RefOutcome, 'ref' | 'refused'>[]): readonly RefOutcome[] {
  return outcomes.map(({ ref, refused }) => ({
    ref,
    refused: refused ?? {
      reason: 'atomic push failed',
      sentence: `${ref} would have moved, but not without the others.`,
    },
  }))
}

/** A large push has a batch of its own: other jobs could not read its pack before that is published. */
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

/** If a push moves more refs than this, they are packed, because every look at the repository reads all loose ones. */
const MANY = 256

const MAX_SLUG_WARNINGS = 100

/** Updates the registry's index; answers the new revisions of branches, and which new slugs mean something else when given alone. */
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

/** A command with good objects, or the reason of its refusal. */
interface CheckedCommand extends RefCommand {
  readonly target: Oid
  readonly refused?: RefRefusal
  /** Warnings for the pusher about the command's revisions. */
  readonly warnings?: readonly Warning[]
}

/**
 * Moves the refs of a push in a transaction of its artifact's repository, as far as the current state allows: the artifact and its variants
 * are not archived, no other write was faster, no name clashes. A new branch becomes a variant with a record of its pusher. Answers the
 * outcome of each command.
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

/** The context in which the refs of a push move. */
interface RefMove {
  readonly registry: Registry
  readonly family: Family
  readonly state: ArtifactState
  readonly context: WriteContext
  readonly transaction: Transaction
  readonly names: NamesInUse
  /** The records of new variants. */
  readonly records: Map<string, VariantRecord>
  /** The dates of new tags. */
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
