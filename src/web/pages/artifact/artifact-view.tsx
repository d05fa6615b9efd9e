import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Archivable } from '../../parts/archive/archivable.ts'
import { ArchiveDialog } from '../../parts/archive/archive-dialog.tsx'
import { ArchivedNote } from '../../parts/archive/archived.tsx'
import { LinkButton } from '../../parts/button/link-button.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { Page } from '../../parts/page/page.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import styles from './artifact.module.css'
import { Aside } from './aside/aside.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { ForkDialog, type ForkPoint } from './fork-dialog.tsx'
import { History } from './history/history.tsx'
import { type Artifact, artifactKind } from '../../api/artifact-kind.ts'
import { useVariants } from './aside/use-variants.ts'

/** The page of an artifact that is there. */
export function ArtifactView({ artifact }: { readonly artifact: Artifact }) {
  const { slug, name, deleted_at: archivedAt } = artifact
  const { word, title, list } = artifactKind(artifact)
  const { show } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
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
            title={`What can be done with the ${word}`}
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
