import { useState } from 'react'
import { BlameText } from '../../parts/blame/blame-text.tsx'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import type { Members } from '../../api/json.ts'
import { textsOf } from '../../parts/content/content.tsx'
import styles from './revision.module.css'
import type { Revision } from '../../api/kinds.ts'
import { useRoute } from '../../api/use-route.ts'
import { RevisionDiff } from '../../parts/diff/revision-diff.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { RevisionChip } from '../../parts/chips/chips.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'

const TEXTS_PER_STEP = 20

/** The blame of the revision's texts. A line opens the revision that changed it, and from there the previous ones. */
export function BlameView({ revision, data }: { readonly revision: Revision; readonly data: Members }) {
  const { brought } = useAddress()
  const [most, setMost] = useState(TEXTS_PER_STEP)
  const texts = textsOf(data)
  const change = useChangeAddress()
  const show = (version: string | undefined): void => change({ brought: version })
  if (texts.length === 0) {
    return (
      <Empty command={`git blame -- data.json`}>
        There is no text to show line by line: only messages and long strings are.
      </Empty>
    )
  }
  return (
    <div className={styles.content}>
      {texts.slice(0, most).map(({ place, label }) => (
        <section key={place}>
          <h3 className={styles.textHead}>
            {label} <code className="muted-small">{place}</code>
          </h3>
          <BlameText
            revisionId={revision.id}
            place={place}
            label={`${label}, ${place}`}
            onLine={({ revision: by }) => by && show(String(by.version))}
          />
        </section>
      ))}
      {texts.length > most && (
        <Button onClick={() => setMost(most + TEXTS_PER_STEP)}>
          Show more of {texts.length.toLocaleString()} texts
        </Button>
      )}
      {brought !== undefined && /^\d{1,9}$/.test(brought) && (
        <BroughtBy revision={revision} version={Number(brought)} show={show} />
      )}
    </div>
  )
}

interface BroughtByProps {
  /** The revision whose blame is shown. */
  readonly revision: Revision
  /** The version that changed the line. */
  readonly version: number
  readonly show: (version: string | undefined) => void
}

/** The revision that changed a line, with its changes, and buttons to the previous ones. */
function BroughtBy({ revision, version, show }: BroughtByProps) {
  const { workflow_slug: slug, variant_slug: variant } = revision
  const brought = useVersion(slug, variant, version)
  const before = useVersion(slug, variant, version - 1, version > 1)
  const by = brought.data?.workflow_revision
  const parent = before.data?.workflow_revision
  const error = brought.error ?? before.error
  return (
    <Modal
      open
      sheet
      close={() => show(undefined)}
      title={`Changed in v${version}`}
      actions={
        <>
          {version > 1 && <Button onClick={() => show(String(version - 1))}>Previous: v{version - 1}</Button>}
          {version > 1 && (
            <LinkButton to={places.version(slug, variant, version - 1)} search={{ view: 'blame' }}>
              Blame as of v{version - 1}
            </LinkButton>
          )}
          <LinkButton to={places.version(slug, variant, version)} kind="primary">
            Open v{version}
          </LinkButton>
        </>
      }
    >
      {error && <Failure error={error} />}
      {!error && (!by || (version > 1 && !parent)) && <Skeleton label={`Loading v${version}`} />}
      {by && (version === 1 || parent) && (
        <div className={styles.content}>
          <p className={styles.sheetHead}>
            <RevisionChip
              to={places.version(slug, variant, version)}
              version={version}
              commit={by.id.replaceAll('-', '')}
              author={by.author}
              date={by.date}
            />
            <bdi>{by.subject.slice(0, 300)}</bdi>
          </p>
          <RevisionDiff key={by.id} base={parent && { id: parent.id }} head={{ id: by.id }} />
        </div>
      )}
    </Modal>
  )
}

function useVersion(slug: string, variant: string, version: number, enabled = true) {
  const body = {
    workflow_ref: { slug },
    workflow_variant_ref: { slug: variant },
    workflow_revision_ref: { version },
  }
  return useRoute('POST /workflows/revisions/retrieve', { body }, { enabled, immutable: true })
}
