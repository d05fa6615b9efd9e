import { useParams, useNavigate, Link } from '@tanstack/react-router'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { NotThere, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Problem } from '../../api/call.ts'
import { places, useAddress } from '../../shell/places.ts'
import { useState } from 'react'
import { type Archivable, ArchiveDialog, ArchivedNote } from '../../parts/archive/archive.tsx'
import { LinkButton } from '../../parts/button/button.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { useRefusal } from '../../shell/session.tsx'
import styles from './artifact.module.css'
import { Aside, useVariants } from './aside.tsx'
import { ForkDialog, type ForkPoint } from './fork-dialog.tsx'
import { History } from './history.tsx'
import { type Artifact, artifactKind } from '../../api/kinds.ts'
import { FormDialog } from '../../parts/dialog/dialog.tsx'

/** A prompt, an evaluator or a workflow: its history as a graph, its variants, how to clone it, who uses it. */
export default function ArtifactPage() {
  const { slug = '' } = useParams({ strict: false })
  const { data, error, refetch } = useRoute('GET /workflows/{id}', { path: { id: slug } })
  if (data) return <ArtifactView key={data.workflow.id} artifact={data.workflow} />
  return (
    <Page crumbs={[{ label: slug }]}>
      {error instanceof Problem && error.status === 404 ? (
        <NotThere problem={error} placeOf={places.artifact} />
      ) : error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={16} />
      )}
    </Page>
  )
}

/** The page of an existing artifact. */
function ArtifactView({ artifact }: { readonly artifact: Artifact }) {
  const { slug, name, deleted_at: archivedAt } = artifact
  const { word, title, list } = artifactKind(artifact)
  const { show } = useAddress()
  const navigate = useNavigate()
  const variants = useVariants(slug)
  const [main] = variants.all
  const [forkPoint, setForkPoint] = useState<ForkPoint>()
  const [isDeleting, setDeleting] = useState(false)
  const [archiving, setArchiving] = useState<Archivable>()
  const mayNotWrite = useRefusal('write')
  const isArchived = archivedAt !== undefined
  const own: Archivable = { level: 'artifact', family: 'workflows', id: artifact.id, artifact: slug, word }
  const archivedRefusal = isArchived ? `The ${word} is archived: bring it back first.` : undefined
  const noVariant = main ? undefined : `The ${word} has no variant yet.`
  const write = archivedRefusal ?? mayNotWrite

  useCommands([
    {
      id: 'edit',
      title: main ? `Edit ${main.slug}` : 'Edit',
      keys: 'e',
      refusal: write ?? noVariant,
      run: () => main && void navigate({ to: places.edit(slug, main.slug) }),
    },
    {
      id: 'run',
      title: `Run ${slug}`,
      refusal: noVariant,
      run: () => void navigate({ to: places.run(slug) }),
    },
  ])

  return (
    <Page
      crumbs={[
        { label: title, to: places.home(list), siblings: { of: 'families' } },
        { label: slug, siblings: { of: 'artifacts', family: list } },
      ]}
      about={
        <>
          <span className={styles.badge}>{word}</span>
          {name !== undefined && name !== slug && <bdi className={styles.name}>{name.slice(0, 200)}</bdi>}
        </>
      }
      actions={
        <>
          <Menu
            label="More"
            title={`Actions for the ${word}`}
            items={[
              {
                label: 'Fork a variant …',
                refusal: write ?? noVariant,
                run: () => main && setForkPoint({ variant: main.slug }),
              },
              { label: 'Deploy …', to: places.environments(), search: { artifact: slug, deploy: slug } },
              { label: 'Deployments', to: places.environments(), search: { artifact: slug } },
              {
                label: `Archive the ${word} …`,
                refusal: isArchived ? `The ${word} is archived.` : mayNotWrite,
                run: () => setArchiving(own),
              },
              { label: 'Delete …', refusal: mayNotWrite, run: () => setDeleting(true) },
            ]}
          />
          <LinkButton to={places.run(slug)} refusal={noVariant}>
            Run
          </LinkButton>
          <LinkButton to={places.edit(slug, main?.slug ?? '')} kind="primary" refusal={write ?? noVariant}>
            Edit {main?.slug}
          </LinkButton>
        </>
      }
      fills
    >
      <NewsLine concerns={({ references }) => Object.values(references).some((it) => it?.slug === slug)} />
      {isArchived && <ArchivedNote it={own} />}
      <div className={styles.narrowTabs}>
        <LinkTabs
          label="Parts of the page"
          tabs={[
            { label: 'History', to: places.artifact(slug), isHere: show !== 'about' },
            {
              label: 'Variants and more',
              to: places.artifact(slug),
              search: { show: 'about' },
              isHere: show === 'about',
            },
          ]}
        />
      </div>
      <div className={styles.columns} data-show={show === 'about' ? 'about' : 'history'}>
        <History
          artifact={artifact}
          main={main}
          ready={!variants.isPending}
          fork={(point) => setForkPoint(point)}
          forkRefusal={write}
          archive={setArchiving}
        />
        <Aside artifact={artifact} variants={variants} archive={setArchiving} />
      </div>
      {forkPoint && <ForkDialog slug={slug} point={forkPoint} close={() => setForkPoint(undefined)} />}
      {archiving && <ArchiveDialog it={archiving} close={() => setArchiving(undefined)} />}
      {isDeleting && <DeleteDialog artifact={artifact} close={() => setDeleting(false)} />}
    </Page>
  )
}

/** Moves the artifact to the trash, unless something uses it; lists what does. */
function DeleteDialog({ artifact, close }: { readonly artifact: Artifact; readonly close: () => void }) {
  const { slug } = artifact
  const { word, list } = artifactKind(artifact)
  const navigate = useNavigate()
  const remove = useWrite('DELETE /simple/workflows/{id}')
  const users = remove.error instanceof Problem ? remove.error.document['users'] : undefined
  return (
    <FormDialog
      title={`Delete ${slug}`}
      action={`Delete ${slug}`}
      kind="danger"
      needs="write"
      submit={() =>
        remove
          .mutateAsync({ path: { id: artifact.id } })
          .then(() => navigate({ to: '/', search: { kind: list } as never }))
      }
      close={close}
    >
      <p>
        The {word} and its history move to the trash, from which you can bring them back for 30 days. If
        something refers to it, archive it instead: that hides it and keeps everything working.
      </p>
      {Array.isArray(users) && (
        <ul className={styles.users}>
          <Users users={users} />
        </ul>
      )}
    </FormDialog>
  )
}

/** The users of an artifact, from 409 `in_use`, with links to their pages. */
function Users({ users }: { readonly users: readonly unknown[] }) {
  return users.slice(0, MOST).map((user, at) => {
    const { kind, id, slug } = user as Readonly<Record<string, string | undefined>>
    const to = placeOf(kind, id, slug)
    const name = slug ?? id ?? ''
    return (
      <li key={at}>
        {kind} {to === undefined ? name : <Link to={to}>{name}</Link>}
      </li>
    )
  })
}

const MOST = 50

function placeOf(kind = '', id = '', slug = ''): string | undefined {
  if (kind === 'trace') return places.trace(id)
  if (kind === 'evaluation') return places.evaluation(id)
  if (kind === 'webhook') return places.settings('webhooks')
  if (kind === 'fork') return places.artifact(slug)
  if (kind === 'deployment') return places.environment(slug)
  return undefined
}
