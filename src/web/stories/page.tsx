import type { ReactNode } from 'react'
import { Page } from '../parts/page/page.tsx'
import { STORIES } from './stories.tsx'
import styles from './stories.module.css'

/** What parts look like in their states, one below the other, for whoever works on them: `npm run dev`, at `/stories`. */
export default function StoriesPage() {
  return (
    <Page crumbs={[{ label: 'Parts' }]} wide>
      <div className={styles.stories}>
        {STORIES.map(([name, drawn]) => (
          <Story key={name} name={name}>
            {drawn}
          </Story>
        ))}
      </div>
    </Page>
  )
}

function Story({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section className={styles.story} aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  )
}
