import { useState } from 'react'
import { artifactKind, type Revision } from '../../api/kinds.ts'
import { ArchiveDialog } from '../../parts/archive/archive.tsx'
import { endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { DeploySheet } from '../../parts/deploy/deploy-sheet.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { useUndo } from '../../parts/undo/undo.tsx'

export interface RevisionMenuProps {
  readonly revision: Revision
  /** The previous version; undefined for the first. */
  readonly previous: number | undefined
}

/** The menu of a version and its dialogs. `?deploy=1` opens the sheet that deploys, with `?to=` and `?what=`. */
export function RevisionMenu({ revision, previous }: RevisionMenuProps) {
  const { workflow_slug: slug, variant_slug: variant, deleted_at: archivedAt } = revision
  const version = Number(revision.version)
  const { deploy, to, what } = useAddress()
  const show = useChangeAddress()
  const undo = useUndo({ family: 'workflow', slug, id: revision.id, version, variant })
  const [isArchiving, setArchiving] = useState(false)
  const mayNotWrite = useRefusal('write')
  return (
    <>
      <Menu
        label="More"
        title="Actions for this version"
        items={[
          previous === undefined
            ? {
                label: 'Compare with the previous version',
                refusal: 'This is the first version.',
                run: () => undefined,
              }
            : {
                label: 'Compare with the previous version',
                to: places.compare(slug, `r:${variant}-${previous}`, `r:${variant}-${version}`),
              },
          {
            label: `Compare with the newest version of ${variant}`,
            to: places.compare(slug, `r:${variant}-${version}`, `v:${variant}`),
          },
          { label: 'Deploy …', run: () => show({ deploy: '1' }) },
          ...undo.items,
          {
            label: `Archive v${version} …`,
            refusal: archivedAt === undefined ? mayNotWrite : `v${version} is archived.`,
            run: () => setArchiving(true),
          },
        ]}
      />
      {deploy !== undefined && (
        <DeploySheet
          artifact={slug}
          to={to}
          // As a version of this variant: other variants may have the revision, too.
          what={what === undefined ? { kind: 'revision', slug: `${variant}-${version}` } : endOf(what)}
          choose={(end) => show({ what: textOfEnd(end) }, true)}
          chooseTo={(environment) => show({ to: environment }, true)}
          close={() => show({ deploy: undefined, to: undefined, what: undefined })}
        />
      )}
      {isArchiving && (
        <ArchiveDialog
          it={{
            ...{ level: 'revision', family: 'workflows', id: revision.id, artifact: slug, variant, version },
            word: artifactKind(revision).word,
          }}
          close={() => setArchiving(false)}
        />
      )}
      {undo.dialogs}
    </>
  )
}
