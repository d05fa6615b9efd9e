import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { textAt } from '../../parts/json-text/json-text.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { useLive } from '../../shell/live.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useSession } from '../../shell/session.tsx'
import { type Draft, readDraft, useDraftLock } from './draft/use-editing.ts'
import type { Base } from './draft/editing.ts'
import { Workspace } from './workspace.tsx'

/** `/a/<slug>/edit/<variant>`: edits the latest revision of a variant, or continues its draft. */
export default function EditPage() {
  const { slug = '', variant = '' } = useParams({ strict: false })
  const { project } = useSession()
  const name = `${project}/${slug}/${variant}`
  return <Loaded key={name} slug={slug} variant={variant} name={name} />
}

interface LoadedProps {
  readonly slug: string
  readonly variant: string
  readonly name: string
}

function Loaded({ slug, variant, name }: LoadedProps) {
  const { view } = useAddress()
  const lock = useDraftLock(name)
  // A draft read before another tab held the lock is not shown after it.
  const [turn, setTurn] = useState(0)
  const [read, setRead] = useState<{ readonly turn: string; readonly draft: Draft | undefined }>()
  const wanted = `${turn} ${String(lock.isHeld)}`
  const answer = useRouteText('POST /workflows/revisions/retrieve', {
    body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant } },
  })
  useLive((event) => {
    if (event === undefined || event.references['workflow_variant']?.slug === variant) void answer.refetch()
  })
  useEffect(() => {
    if (lock.isHeld === undefined) return
    readDraft(name)
      // The editor reports it if the browser cannot store drafts.
      .catch(() => undefined)
      .then((draft) => setRead({ turn: wanted, draft }))
  }, [name, wanted])

  const head = answer.data === undefined ? undefined : baseIn(answer.data)
  const isRead = read?.turn === wanted
  const [begunAt, setBegunAt] = useState<{ readonly turn: string; readonly base: Base }>()
  useEffect(() => {
    if (head && isRead && begunAt?.turn !== wanted)
      setBegunAt({ turn: wanted, base: read.draft?.base ?? head })
  })

  if (answer.error && !head)
    return (
      <Page
        crumbs={[
          { label: slug, to: places.artifact(slug) },
          { label: variant, to: places.version(slug, variant) },
          { label: 'Edit' },
        ]}
      >
        <Failure error={answer.error} retry={answer.refetch} />
      </Page>
    )
  if (!head || !isRead || begunAt?.turn !== wanted)
    return (
      <Page crumbs={[{ label: slug, to: places.artifact(slug) }, { label: variant }, { label: 'Edit' }]}>
        <Skeleton label={`Loading ${variant}`} lines={10} />
      </Page>
    )
  return (
    <Workspace
      key={wanted}
      slug={slug}
      variant={variant}
      name={name}
      head={head}
      base={begunAt.base}
      begun={read.draft?.editing}
      lock={lock}
      view={view}
      again={() => setTurn(turn + 1)}
    />
  )
}

/** The parts of a retrieved revision that an edit needs. */
function baseIn(answer: string): Base {
  const { workflow_revision: revision } = JSON.parse(answer) as {
    readonly workflow_revision: {
      readonly id: string
      readonly version: number | string
      readonly variant_id: string
    }
  }
  return {
    revisionId: revision.id,
    version: Number(revision.version),
    variantId: revision.variant_id,
    text: textAt(answer, ['workflow_revision', 'data']) ?? '{}',
  }
}
