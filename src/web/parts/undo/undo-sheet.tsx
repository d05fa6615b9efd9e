import { useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import type { ComparedFamily } from '../compare/ends.ts'
import { MergeSheet } from '../conflicts/merge-sheet.tsx'
import { Modal } from '../dialog/dialog.tsx'
import { RevisionDiff } from '../diff/revision-diff.tsx'
import { RowDiff } from '../row-diff/row-diff.tsx'
import { Failure, Skeleton } from '../states/states.tsx'

/** A version that an action goes back to, takes back, or copies elsewhere. */
export interface UndoneVersion {
  readonly family: ComparedFamily
  /** The slug of the prompt or testset. */
  readonly slug: string
  readonly id: string
  readonly version: number
  /** The variant that the version is shown in. */
  readonly variant: string
}

/** What is done with a version. */
export type Act = 'restore' | 'revert' | 'cherry-pick'

/** The dialog of an action on a version. */
export default function UndoDialog(props: UndoneVersion & { readonly act: Act; readonly close: () => void }) {
  return props.act === 'cherry-pick' ? (
    <CopyChange {...props} />
  ) : (
    <UndoSheet {...props} target={props.variant} />
  )
}

interface UndoSheetProps extends UndoneVersion {
  readonly act: Act
  /** The variant that gets a new version. */
  readonly target: string
  readonly close: () => void
}

/** What a restore, an undo or a copied change would give, and the button that does it. Conflicts are decided in the same sheet. */
function UndoSheet({ act, family, slug, id, version, variant, target, close }: UndoSheetProps) {
  const { title, action, hint } = wordsOf(act, version, target)
  return (
    <MergeSheet
      title={title}
      family={family}
      act={`revisions/${act}`}
      slug={slug}
      body={{ revision: { id }, target: { variant: { slug: target }, artifact: { slug } } }}
      names={{ target, source: act === 'revert' ? `without the change of v${version}` : `v${version}` }}
      action={action}
      hint={hint}
      kept={`${act} ${family} ${slug} ${id} ${target}`}
      close={close}
    >
      <h3>{act === 'restore' ? `What changes in ${target}` : 'The change'}</h3>
      {act === 'restore' ? (
        <Found family={family} slug={slug} of={{ [`${family}_variant_ref`]: { slug: target } }}>
          {(head) => <Diff family={family} base={head} head={id} />}
        </Found>
      ) : (
        <Found
          family={family}
          slug={slug}
          of={{ [`${family}_revision_ref`]: { slug: `${variant}-${version - 1}` } }}
        >
          {(earlier) => (
            <Diff
              family={family}
              base={act === 'revert' ? id : earlier}
              head={act === 'revert' ? earlier : id}
            />
          )}
        </Found>
      )}
    </MergeSheet>
  )
}

function wordsOf(act: Act, version: number, target: string) {
  switch (act) {
    case 'restore':
      return {
        title: `Restore v${version} in ${target}`,
        action: `Restore v${version}`,
        hint: `${target} gets a new version with the content of v${version}. All versions in between are kept.`,
      }
    case 'revert':
      return {
        title: `Undo the change of v${version} in ${target}`,
        action: 'Undo this change',
        hint: `${target} gets a new version without this change. Later changes stay.`,
      }
    case 'cherry-pick':
      return {
        title: `Copy the change of v${version} to ${target}`,
        action: `Copy to ${target}`,
        hint: `${target} gets a new version with this change.`,
      }
  }
}

interface FoundProps extends Pick<UndoneVersion, 'family' | 'slug'> {
  /** The reference to a variant, for its newest version, or to a version. */
  readonly of: Readonly<Record<string, { readonly slug: string }>>
  readonly children: (id: string) => React.ReactNode
}

/** Looks up the id of a version. */
function Found({ family, slug, of, children }: FoundProps) {
  const withoutRows = family === 'testset' ? { include_testcases: false } : {}
  const body = { [`${family}_ref`]: { slug }, ...of, ...withoutRows }
  const { data, error, refetch } = useRoute(
    `POST /${family}s/revisions/retrieve` as 'POST /workflows/revisions/retrieve',
    { body: body as never },
  )
  if (error) return <Failure error={error} retry={refetch} />
  const found = data as Readonly<Record<string, { readonly id: string } | undefined>> | undefined
  const id = found?.[`${family}_revision`]?.id
  return id === undefined ? <Skeleton label="Loading what changes" lines={8} /> : children(id)
}

function Diff({
  family,
  base,
  head,
}: {
  readonly family: ComparedFamily
  readonly base: string
  readonly head: string
}) {
  return family === 'testset' ? (
    <RowDiff base={{ id: base }} head={{ id: head }} />
  ) : (
    <RevisionDiff base={{ id: base }} head={{ id: head }} />
  )
}

/** Asks for the variant that gets the change. */
function CopyChange(props: UndoneVersion & { readonly close: () => void }) {
  const { family, slug, variant, version, close } = props
  const [target, choose] = useState<string>()
  const { data, error } = useRoute(`POST /${family}s/variants/query` as 'POST /workflows/variants/query', {
    body: { [`${family}_refs`]: [{ slug }], windowing: { order: 'ascending', limit: 200 } } as never,
  })
  if (target !== undefined) return <UndoSheet act="cherry-pick" {...props} target={target} />
  const listed = (data as Readonly<Record<string, readonly { readonly slug: string }[]>> | undefined)?.[
    `${family}_variants`
  ]
  const others = listed?.filter((it) => it.slug !== variant)
  return (
    <Modal
      open
      close={close}
      title={`Copy the change of v${version} to which variant?`}
      actions={<Button onClick={close}>Cancel</Button>}
    >
      {error && <Failure error={error} />}
      {!others && !error && <Skeleton label="Loading the variants" />}
      {others?.length === 0 && <p>There is no other variant yet. Make one from the menu first.</p>}
      <ul className="row">
        {others?.map((it) => (
          <li key={it.slug}>
            <Button onClick={() => choose(it.slug)}>{it.slug}</Button>
          </li>
        ))}
      </ul>
    </Modal>
  )
}
