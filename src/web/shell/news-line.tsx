import { useQueryClient } from '@tanstack/react-query'
import { Ago } from '../parts/time/ago.tsx'
import { authorName } from '../parts/revision-chip/author-name.ts'
import { type LiveEvent, revisionIn, useNews } from './live.ts'
import styles from './news-line.module.css'

/** A quiet line when somebody else changed what is shown: `v13 by ci, 4 s: show`. Nothing moves until it is pressed. */
export function NewsLine({ concerns }: { readonly concerns: (event: LiveEvent) => boolean }) {
  const { news, seen } = useNews(concerns)
  const cache = useQueryClient()
  return (
    <div role="status">
      {news && (
        <p className={styles.news}>
          {sentenceOf(news)}, <Ago date={news.date} />:{' '}
          <button
            type="button"
            onClick={() => {
              seen()
              void cache.invalidateQueries()
            }}
          >
            show
          </button>
        </p>
      )}
    </div>
  )
}

function sentenceOf(event: LiveEvent): string {
  const { kind, action, references, author } = event
  const version = revisionIn(event)?.version
  const what =
    kind === 'deployment'
      ? `${references['environment']?.slug ?? 'An environment'} changed`
      : version !== undefined
        ? `v${version}`
        : `${kind} ${action.replace('_', ' ')}`
  return author ? `${what} by ${authorName(author)}` : what
}
