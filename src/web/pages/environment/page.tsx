import { useNavigate, useParams, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoute, useWrite, usePages } from '../../api/use-route.ts'
import {
  ArchiveDialog,
  ArchivedNote,
  ArchivedBadge,
  archivableArtifact,
} from '../../parts/archive/archive.tsx'
import { endOf, textOfEnd, type End } from '../../parts/compare/ends.ts'
import { DeploySheet, useGuard } from '../../parts/deploy/deploy-sheet.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { NamingFacts, useNaming } from '../../parts/naming/naming.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'
import { Timeline } from './timeline.tsx'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import type { Answer } from '../../api/call.ts'
import { ApiLines, curlOf, deployCommand } from '../../parts/copy/api-lines.tsx'
import { versionsBehind } from '../../parts/deploy/use-deployments.ts'
import { authorName } from '../../parts/chips/chips.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/time.tsx'

/** One environment: its timeline, or with `?view=now` what it runs. `?deploy=`, `?what=` and `?key=` open the sheet that deploys or rolls back. */
export default function EnvironmentPage() {
  const { slug = '' } = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>
  const { view, deploy, what, key } = useAddress()
  const navigate = useNavigate()
  const { data, error, refetch } = useRoute('GET /environments/{id}', { path: { id: slug } })
  const place = places.environment(slug)
  const isGuarded = data?.environment.flags?.is_guarded === true
  const show = useChangeAddress()
  const openSheet = (artifact: string, end: End | undefined, ownKey: string | undefined): void =>
    show({ deploy: artifact, what: end && textOfEnd(end), key: ownKey })
  const isNow = view === 'now'
  const own = data && archivableArtifact('environments', 'environment', data.environment)
  const isArchived = data?.environment.deleted_at !== undefined
  const [isArchiving, setArchiving] = useState(false)
  const guard = useGuard(slug)
  const environment = data?.environment
  const archivedRefusal = isArchived ? `${slug} is archived: bring it back first.` : undefined
  const naming = useNaming(
    environment && { ...environment, family: 'environments' },
    archivedRefusal ?? guard,
  )
  return (
    <Page
      crumbs={[
        { label: 'Home', to: '/' },
        { label: 'Deployments', to: places.environments() },
        { label: slug, siblings: { of: 'environments' } },
      ]}
      about={
        environment && (
          <>
            {environment.name !== undefined && environment.name !== slug && (
              <bdi>{environment.name.slice(0, 200)}</bdi>
            )}
            <span>
              {isGuarded
                ? 'Only keys with the scope deploy can deploy'
                : 'Anyone with write access can deploy'}
            </span>
          </>
        )
      }
      actions={
        data && (
          <>
            <GuardButton
              id={data.environment.id}
              slug={slug}
              isGuarded={isGuarded}
              refusal={archivedRefusal}
            />
            <Menu
              label="More"
              title="Actions for the environment"
              items={[
                ...naming.items,
                {
                  label: 'Archive the environment …',
                  refusal: isArchived ? 'The environment is archived.' : guard,
                  run: () => setArchiving(true),
                },
              ]}
            />
          </>
        )
      }
    >
      {error && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton label="Loading the environment" />}
      {own && isArchived && <ArchivedNote it={own} />}
      {own && isArchiving && <ArchiveDialog it={own} close={() => setArchiving(false)} />}
      {naming.dialogs}
      {environment && <NamingFacts of={environment} />}
      {data && (
        <>
          <NewsLine
            concerns={({ kind, references }) =>
              kind === 'deployment' && references['environment']?.slug === slug
            }
          />
          <LinkTabs
            label="Views of the environment"
            tabs={[
              { label: 'Timeline', to: place, isHere: !isNow },
              { label: 'Runs now', to: place, search: { view: 'now' }, isHere: isNow },
            ]}
          />
          {isNow ? (
            <RunsNow slug={slug} refusal={archivedRefusal} deploy={openSheet} />
          ) : (
            <Timeline slug={slug} refusal={archivedRefusal} deploy={openSheet} />
          )}
        </>
      )}
      {deploy !== undefined && (
        <DeploySheet
          artifact={deploy}
          to={slug}
          deployKey={key}
          what={what === undefined ? undefined : endOf(what)}
          choose={(end) => show({ what: textOfEnd(end) }, true)}
          chooseTo={(other) =>
            void navigate({ to: places.environment(other), search: { deploy, what, key }, replace: true })
          }
          close={() => show({ deploy: undefined, what: undefined, key: undefined })}
        />
      )}
    </Page>
  )
}

interface GuardButtonProps {
  readonly id: string
  readonly slug: string
  readonly isGuarded: boolean
  /** Why it cannot be changed now. */
  readonly refusal: string | undefined
}

/** Protects the environment, or removes the protection, after a dialog that explains it. */
function GuardButton({ id, slug, isGuarded, refusal }: GuardButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const guard = useWrite('POST /simple/environments/{id}/guard')
  const unguard = useWrite('POST /simple/environments/{id}/unguard')
  const { mutateAsync } = isGuarded ? unguard : guard
  const label = isGuarded ? 'Remove protection' : 'Protect'
  const named = isGuarded ? `Remove the protection of ${slug}` : `Protect ${slug}`
  return (
    <>
      <Button needs="deploy" refusal={refusal} onClick={() => setOpen(true)}>
        {label}…
      </Button>
      {isOpen && (
        <FormDialog
          title={named}
          action={named}
          kind={isGuarded ? 'danger' : 'primary'}
          needs="deploy"
          submit={() => mutateAsync({ path: { id } })}
          close={() => setOpen(false)}
        >
          <p>
            {isGuarded
              ? `From now on, every key with the scope write can deploy to ${slug}.`
              : `From now on, only keys with the scope deploy can deploy to ${slug} or take something down. What runs stays as it is.`}
          </p>
        </FormDialog>
      )}
    </>
  )
}

interface RunsNowProps {
  readonly slug: string
  /** Why nothing can be deployed to it now. */
  readonly refusal: string | undefined
  readonly deploy: (artifact: string, what: End | undefined, key: string | undefined) => void
}

type Deployment = Answer<'POST /deployments/query'>['deployments'][number]

const PAGE = 100

/** What the environment runs, and how a client asks for it. */
function RunsNow({ slug, refusal, deploy }: RunsNowProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /deployments/query',
    { body: { deployment: { environment_ref: { slug } }, windowing: { limit: PAGE } } },
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label="Loading what runs" lines={8} />
  const rows = data.pages.flatMap((page) => page.deployments)
  const first = rows[0]?.artifact?.slug ?? 'my-prompt'
  return (
    <>
      {rows.length === 0 && <p>Nothing runs in {slug}.</p>}
      {rows.length > 0 && (
        <Table
          caption={`What runs in ${slug}`}
          rows={rows}
          keyOf={({ key }) => key}
          columns={[
            { name: 'Prompt', cell: (it) => <Name deployment={it} /> },
            { name: 'Version', number: true, cell: (it) => <Version deployment={it} /> },
            { name: 'Status', cell: (it) => <Behind deployment={it} /> },
            { name: 'Since', cell: ({ since }) => <Ago date={since.date} /> },
            { name: 'By', cell: ({ since }) => authorName(since.author) },
            { name: 'Message', cell: ({ since }) => since.message ?? '' },
            {
              name: 'Deploy',
              cell: ({ artifact, key }) =>
                artifact?.kind === 'workflow' && (
                  <Button
                    refusal={refusal}
                    aria-label={`Deploy another version of ${artifact.slug}`}
                    onClick={() =>
                      deploy(artifact.slug, undefined, key === `${artifact.slug}.revision` ? undefined : key)
                    }
                  >
                    Another version…
                  </Button>
                ),
            },
          ]}
        />
      )}
      <MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }} />
      <ApiLines
        lines={[
          {
            label: `Get what runs in ${slug}`,
            text: curlOf('/workflows/revisions/retrieve', {
              environment_ref: { slug },
              workflow_ref: { slug: first },
            }),
          },
          { label: `Deploy a version to ${slug}`, text: deployCommand(slug) },
        ]}
      />
    </>
  )
}

function Name({ deployment: { artifact, key, problem } }: { readonly deployment: Deployment }) {
  if (!artifact) return <span title={problem}>{key}: not found</span>
  return (
    <>
      {artifact.kind === 'workflow' ? (
        <Link to={places.artifact(artifact.slug)}>{artifact.name ?? artifact.slug}</Link>
      ) : (
        artifact.slug
      )}
      {key !== `${artifact.slug}.revision` && <code> {key}</code>}
    </>
  )
}

function Version({
  deployment: { artifact, variant, revision, archived },
}: {
  readonly deployment: Deployment
}) {
  if (!artifact || !revision) return '–'
  const words = `v${revision.version}${!variant || variant.slug === artifact.slug ? '' : ` of ${variant.slug}`}`
  if (artifact.kind !== 'workflow') return words
  return (
    <>
      <Link to={places.revision(artifact.slug, revision.slug)} title={revision.subject}>
        {words}
      </Link>{' '}
      {archived && <ArchivedBadge />}
    </>
  )
}

function Behind({
  deployment: { artifact, variant, behind, environment, latest },
}: {
  readonly deployment: Deployment
}) {
  if (behind === undefined) return ''
  if (behind === 0 || !artifact || !variant) return 'newest'
  return (
    <Link
      to={places.compare(artifact.slug, `e:${environment.slug}`, `v:${variant.slug}`)}
      title={`See what changed up to v${latest?.version}`}
    >
      {versionsBehind(behind)}
    </Link>
  )
}
