import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { BlameText } from '../../parts/blame/blame-text.tsx'
import { Button } from '../../parts/button/button.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { BroughtBy } from './brought-by.tsx'
import { type Members } from '../../api/members-of.ts'
import { textsOf } from './content/data-of.ts'
import styles from './revision.module.css'
import type { Revision } from './use-revision.ts'

/** So many texts more are shown at a time. */
const PAGE = 20

/** Who wrote each line of the revision's texts. A line leads to the revision that brought it, and on to the one before. */
export function BlameView({ revision, data }: { readonly revision: Revision; readonly data: Members }) {
  const { brought } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const [most, setMost] = useState(PAGE)
  const texts = textsOf(data)
  const show = (version: string | undefined): void => {
    void navigate({ to: '.', search: ((kept: object) => ({ ...kept, brought: version })) as never })
  }
  if (texts.length === 0) {
    return (
      <Empty command={`git blame -- data.json`}>
        It has no texts: what messages say, and other strings that are long or have several lines, are told
        line by line.
      </Empty>
    )
  }
  return (
    <div className={styles.content}>
      {texts.slice(0, most).map(({ place, label }) => (
        <section key={place}>
          <h3 className={styles.textHead}>
            {label} <code className={styles.muted}>{place}</code>
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
        <Button onClick={() => setMost(most + PAGE)}>
          Show more of {texts.length.toLocaleString()} texts
        </Button>
      )}
      {brought !== undefined && /^\d{1,9}$/.test(brought) && (
        <BroughtBy revision={revision} version={Number(brought)} show={show} />
      )}
    </div>
  )
}
