import { useRef } from 'react'
import { type Answer, call, Problem } from '../../api/call.ts'
import { useWrite } from '../../api/use-route.ts'
import { bodyOfNew } from '../drafts/new-drafts.ts'
import { useSureWrite } from '../drafts/use-sure-write.ts'
import { type JsonChange, textAt } from '../json-text/json-text.ts'
import type { Base } from './editing.ts'

type CommitAnswer = Answer<'POST /workflows/revisions/commit'>

/** A committed or merged revision, with the server's warnings. */
export type Committed = CommitAnswer['workflow_revision'] & Pick<CommitAnswer, 'warnings'>

/** A draft to commit. */
export interface Going {
  readonly base: Base
  readonly change: NonNullable<JsonChange>
  readonly message: string
}

/**
 * The ways to save a draft. Each rejects with the server's `Problem`; the draft is kept then. With the draft's `name`, a commit whose answer was
 * lost is not made twice, even after a reload.
 */
export function useCommitDraft(name?: string) {
  const commit = useSureWrite('POST /workflows/revisions/commit', name)
  const create = useSureWrite('POST /simple/workflows', name)
  const fork = useWrite('POST /workflows/variants/fork')
  const merge = useSureWrite('POST /workflows/variants/merge', name)
  const archive = useWrite('POST /workflows/variants/{id}/archive')
  /** Variants made for a failed commit: the next try uses them again. */
  const made = useRef(new Map<string, string>())
  /** The draft as it was committed on such a variant, by the variant's id. */
  const onOwnVariant = useRef(new Map<string, Committed>())

  /** Commits if the variant's latest revision is still the base; otherwise the server answers `revision_conflict`. */
  async function commitTo(variantId: string, { base, change, message }: Going): Promise<Committed> {
    if (base.making) {
      const data = 'whole' in change ? change.whole : (textAt(change.delta, ['set']) ?? '{}')
      const { workflow } = await create.send({ text: bodyOfNew(base.making, data, message) })
      const body = { workflow_revision_ref: { id: String(workflow.revision_id) } }
      return (await call('POST /workflows/revisions/retrieve', { body })).workflow_revision
    }
    const said = message.trim() === '' ? '' : `"message":${JSON.stringify(message.trim())},`
    const text = `{"workflow_revision_commit":{"workflow_variant_id":"${variantId}","base_revision_id":"${base.revisionId}",${said}${wordsOf(change)}}}`
    return committedOf(await commit.send({ text }))
  }

  /** The version that an earlier save of this draft made, if its answer was lost. The base has moved, so nothing new can be made by asking. */
  async function recallCommit({ base, change }: Omit<Going, 'message'>): Promise<Committed | undefined> {
    const isSame = ({ text = '' }: { readonly text?: string }): boolean =>
      text.startsWith(
        `{"workflow_revision_commit":{"workflow_variant_id":"${base.variantId}","base_revision_id":"${base.revisionId}",`,
      ) && text.endsWith(`${wordsOf(change)}}}`)
    const answer = await commit.recall(isSame)
    return answer && committedOf(answer)
  }

  /** Makes a variant that starts at the base. */
  async function forkAtBase(slug: string, base: Base): Promise<string> {
    const before = made.current.get(slug)
    if (before !== undefined) return before
    const answer = await fork.mutateAsync({
      body: {
        workflow_variant: { slug },
        workflow_variant_id: base.variantId,
        workflow_revision_ref: { id: base.revisionId },
      },
    })
    made.current.set(slug, answer.workflow_variant.id)
    return answer.workflow_variant.id
  }

  async function commitToNew(slug: string, going: Going): Promise<Committed> {
    return commitTo(await forkAtBase(slug, going.base), going)
  }

  /**
   * Commits the draft on a new variant and merges that into the original one, however often that moves. If there are conflicts, the draft stays on
   * the new variant until they are decided. A try that failed halfway goes on where it was.
   */
  async function goOnTop(
    slug: string,
    going: Going,
  ): Promise<{ readonly revision: Committed; readonly hasConflicts: boolean }> {
    const source = await forkAtBase(slug, going.base)
    const mine = onOwnVariant.current.get(source) ?? (await commitTo(source, going))
    onOwnVariant.current.set(source, mine)
    const message = going.message.trim()
    try {
      const merged = await merge.send({
        body: {
          source: { variant: { id: source } },
          target: { variant: { id: going.base.variantId } },
          ...(message === '' ? {} : { message }),
        },
      })
      await archiveVariant(source).catch(() => undefined)
      return {
        revision: 'workflow_revision' in merged ? merged.workflow_revision : mine,
        hasConflicts: false,
      }
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'merge_conflict') throw error
      return { revision: mine, hasConflicts: true }
    }
  }

  /** Archives a variant that only existed for a merge. */
  async function archiveVariant(id: string): Promise<void> {
    await archive.mutateAsync({ path: { id } })
  }

  return { commitTo, commitToNew, goOnTop, archiveVariant, recallCommit }
}

function wordsOf(change: NonNullable<JsonChange>): string {
  return 'delta' in change ? `"delta":${change.delta}` : `"data":${change.whole}`
}

function committedOf({ workflow_revision: revision, warnings }: CommitAnswer): Committed {
  return warnings === undefined ? revision : { ...revision, warnings }
}
