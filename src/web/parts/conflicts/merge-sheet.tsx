import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { type Answer, Problem } from '../../api/call.ts'
import { useRoute, useWork } from '../../api/use-route.ts'
import { announce } from '../../shell/announcements.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import type { ComparedFamily } from '../compare/ends.ts'
import { Modal } from '../dialog/dialog.tsx'
import { useSureWrite } from '../drafts/use-sure-write.ts'
import { LongTextField } from '../fields/fields.tsx'
import { Failure, Skeleton } from '../states/states.tsx'
import type { Conflict } from './conflict-texts.ts'
import { Conflicts, SaveMerged } from './conflicts.tsx'
import { useResolving } from './use-resolving.ts'

export type Merge = Answer<'POST /workflows/variants/merge'>['merge']

/** The version that was made. */
export interface Made {
  readonly id: string
  readonly slug: string
  readonly version: string | number
  readonly variant_slug: string
}

export interface MergeSheetProps {
  readonly title: string
  readonly family: ComparedFamily
  readonly act: 'variants/merge' | 'revisions/revert' | 'revisions/cherry-pick' | 'revisions/restore'
  /** The request, without what is entered here. `expected_target` comes from a query, which is read again if the target moved. */
  readonly body: object
  /** The slug of the prompt or testset. */
  readonly slug: string
  /** The variant that is written to, and what is added. */
  readonly names: { readonly target: string; readonly source: string }
  readonly nameOf?: (conflict: Conflict) => string
  /** The label of the button if nothing conflicts. */
  readonly action: string
  readonly hint?: string
  readonly message?: string
  /** The name under which the browser keeps decisions. */
  readonly kept?: string
  readonly close: () => void
  /** Called with what was made, in place of saying so here; the sheet is busy until it is done. */
  readonly onMade?: (made: Made | undefined) => void | Promise<void>
  /** What would change. */
  readonly children?: ReactNode
}

/** Asks what a merge, a revert or the like would give, has conflicts decided, and does it. A target that moves meanwhile costs no decision that still fits. */
export function MergeSheet(props: MergeSheetProps) {
  const { title, family, act, body, slug, names, nameOf, action, hint, kept, close, onMade, children } = props
  const route = `POST /${family}s/${act}` as 'POST /workflows/variants/merge'
  const cache = useQueryClient()
  const [message, setMessage] = useState(props.message ?? '')
  const { start, isBusy, error } = useWork()
  const [hasMoved, setMoved] = useState(false)
  const [made, setMade] = useState<Made>()
  const { send } = useSureWrite(route, kept)
  const dry = useRoute(
    route,
    { body: { ...body, dry_run: true } as never },
    { keepPrevious: true, enabled: !made },
  )
  const merge = dry.data?.merge
  // What was decided about the version before is not sent over one that is not shown yet.
  const isReading = dry.isPlaceholderData
  const resolving = useResolving(merge, kept)
  const hasConflicts = (merge?.conflicts.length ?? 0) > 0
  const readAgain = () =>
    cache.invalidateQueries({
      predicate: ({ queryKey }) => /retrieve|merge|revert|pick|restore/.test(String(queryKey[0])),
    })
  const isStale = isMoved(dry.error)
  useEffect(() => {
    if (isStale) void readAgain()
  }, [isStale])

  async function save(): Promise<void> {
    setMoved(false)
    const said = message.trim()
    try {
      const answer = await send({
        body: {
          ...body,
          ...(said === '' ? {} : { message: said }),
          ...(hasConflicts ? { resolutions: resolving.resolutions() } : {}),
        } as never,
      })
      const found = (answer as Readonly<Record<string, unknown>>)[`${family}_revision`] as Made | undefined
      resolving.forget()
      if (onMade) await onMade(found)
      else if (found) {
        setMade(found)
        announce(`Done: ${names.target} is now v${found.version}.`)
      } else close()
    } catch (failure) {
      if (!isMoved(failure)) throw failure
      setMoved(true)
      await readAgain()
    }
  }

  if (made) {
    const version = Number(made.version)
    const to = family === 'testset' ? places.testsetVersion : places.version
    return (
      <Modal open close={close} title={title} actions={<Button onClick={close}>Close</Button>}>
        <p>
          Done: {names.target} is now{' '}
          <Link to={to(slug, made.variant_slug ?? names.target, version)} onClick={close}>
            v{version}
          </Link>
          .
        </p>
      </Modal>
    )
  }
  const isNothing = merge?.kind === 'up_to_date'
  return (
    <Modal
      open
      sheet
      wide={hasConflicts}
      close={close}
      title={title}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          {hasConflicts ? (
            <SaveMerged resolving={resolving} busy={isBusy || isReading} onSave={() => void start(save)} />
          ) : (
            <ActButton
              action={action}
              busy={isBusy || isReading || (!merge && !dry.error)}
              refusal={
                isNothing
                  ? `${names.target} already has this.`
                  : dry.error && !merge
                    ? dry.error.message
                    : undefined
              }
              run={() => void start(save)}
            />
          )}
        </>
      }
    >
      {hasMoved && (
        <p role="status">
          {names.target} changed meanwhile, so nothing was saved yet. What you decided and still fits is kept.
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
      {dry.error && !isStale && <Failure error={dry.error} />}
      {isNothing && <p>{names.target} already has this: nothing would change.</p>}
      {!merge && !dry.error && <Skeleton label="Loading what would change" lines={8} />}
      {merge && !isNothing && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (!hasConflicts) void start(save)
          }}
        >
          <LongTextField
            label="Message"
            value={message}
            onChange={setMessage}
            rows={2}
            hint={hint ?? 'What changed and why. If left empty, the server writes one.'}
          />
        </form>
      )}
      {hasConflicts && <Conflicts resolving={resolving} names={names} {...(nameOf ? { nameOf } : {})} />}
      {!hasConflicts && children}
    </Modal>
  )
}

interface ActButtonProps {
  readonly action: string
  readonly busy: boolean
  readonly refusal: string | undefined
  readonly run: () => void
}

/** The button of a sheet without conflicts, and its key. */
function ActButton({ action, busy, refusal, run }: ActButtonProps) {
  const lacking = useRefusal('write')
  const keys = 'mod+enter'
  useCommands([{ id: 'merge', title: action, keys, refusal: lacking ?? refusal, run: () => !busy && run() }])
  return (
    <Button kind="primary" needs="write" busy={busy} refusal={refusal} onClick={run}>
      {action}
    </Button>
  )
}

/** Whether the target moved, or has other conflicts than those that were decided. */
function isMoved(error: unknown): boolean {
  return (
    error instanceof Problem && /^(?:revision_conflict|merge_conflict|no_such_conflict)$/.test(error.code)
  )
}
