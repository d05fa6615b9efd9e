import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import type { Archivable } from '../../parts/archive/archivable.ts'
import { ArchiveDialog } from '../../parts/archive/archive-dialog.tsx'
import { ArchivedNote } from '../../parts/archive/archived.tsx'
import { endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { DeploySheet, useGuard } from '../../parts/deploy/deploy-sheet.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { GuardButton } from './guard-button.tsx'
import { RunsNow } from './runs-now.tsx'
import { Timeline } from './timeline.tsx'

/**
 * One environment: its timeline, and with `?view=now` what it runs. `?deploy=`, `?what=` and `?key=` are the sheet that deploys, or rolls
 * back, with what that would change.
 */
export default function EnvironmentPage() {
  const { slug = '' } = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const { view, deploy, what, key } = search
  const navigate = useNavigate()
  const { data, error, refetch } = useRoute('GET /environments/{id}', { path: { id: slug } })
  const place = places.environment(slug)
  const isGuarded = data?.environment.flags?.is_guarded === true
  const show = (more: Readonly<Record<string, string | undefined>>, replace = false): void =>
    void navigate({ to: place, search: { ...search, ...more }, replace })
  const isNow = view === 'now'
  const own: Archivable | undefined = data && {
    ...{ level: 'artifact', family: 'environments', id: data.environment.id },
    ...{ artifact: slug, word: 'environment' },
  }
  const isArchived = data?.environment.deleted_at !== undefined
  const [isArchiving, setArchiving] = useState(false)
  const guard = useGuard(slug)
  const archivedRefusal = isArchived ? `${slug} is archived: bring it back first.` : undefined
  return (
    <Page
      crumbs={[
        { label: 'Home', to: '/' },
        { label: 'Deployments', to: places.environments() },
        { label: slug, siblings: { of: 'environments' } },
      ]}
      about={
        data &&
        (isGuarded
          ? 'Guarded: only keys with the scope deploy write to it'
          : 'Open: every key that may write, may deploy')
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
              title="What can be done with the environment"
              items={[
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
            <RunsNow
              slug={slug}
              refusal={archivedRefusal}
              deploy={(artifact, end, ownKey) =>
                show({ deploy: artifact, what: end && textOfEnd(end), key: ownKey })
              }
            />
          ) : (
            <Timeline
              slug={slug}
              refusal={archivedRefusal}
              deploy={(artifact, end, ownKey) =>
                show({ deploy: artifact, what: textOfEnd(end), key: ownKey })
              }
            />
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
