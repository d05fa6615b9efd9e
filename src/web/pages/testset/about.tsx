import { COMMAND } from '../../api/command-name.ts'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { SearchSwitch } from './search-switch.tsx'
import { TestsetVariants } from './testset-archive.tsx'
import styles from './testset.module.css'
import type { Testset, TestsetRevision } from './records.ts'

/** What is said about a testset, and how it is reached from outside. */
export function AboutTestset({
  testset,
  revision,
}: {
  readonly testset: Testset
  readonly revision: TestsetRevision | undefined
}) {
  const { name, description, tags, meta, created_at: created } = testset
  return (
    <div className={styles.about}>
      <section aria-label="AboutTestset">
        <h2 dir="auto">{name ?? testset.slug}</h2>
        {description !== undefined && (
          <p className={styles.text} dir="auto">
            {description}
          </p>
        )}
        <p className={styles.muted}>
          Made <Ago date={created} inSentence />
          {revision && <>, last changed {revision.author.split(' <')[0]}</>}
        </p>
        {tags && <JsonView name="tags" value={tags} />}
        {meta && <JsonView name="meta" value={meta} />}
      </section>
      <TestsetVariants testset={testset} />
      <SearchSwitch testset={testset} />
      <section aria-label="From a terminal">
        <h2>From a terminal</h2>
        <p>Every row is a file in a git repository.</p>
        <Copyable label="Clones the testset" text={`git clone ${testset.git_url}`} />
        <p>Millions of rows go in and out without the browser:</p>
        <Copyable
          label="Imports and exports"
          text={`${COMMAND} testsets import rows.csv --slug ${testset.slug}\n${COMMAND} testsets export ${testset.slug} --to rows.jsonl.gz`}
        />
      </section>
    </div>
  )
}
