import { useWrite } from '../../api/use-route.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { useRefusal } from '../../shell/session.tsx'
import styles from './testset.module.css'
import type { Testset } from './records.ts'

/** Whether the search finds rows of the testset, and what that costs. */
export function SearchSwitch({ testset }: { readonly testset: Testset }) {
  const { mutate, isPending, error } = useWrite('PUT /testsets/{id}')
  const lacking = useRefusal('write')
  const isOn = testset.flags.search
  return (
    <section aria-label="Search">
      <h2>Search</h2>
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        aria-disabled={lacking !== undefined || isPending || undefined}
        aria-describedby="search-cost"
        title={lacking}
        className={styles.switch}
        onClick={() => {
          if (lacking !== undefined || isPending) return
          mutate({
            path: { id: testset.id },
            body: { testset: { id: testset.id, flags: { search: !isOn } } },
          })
        }}
      >
        <span aria-hidden className={styles.knob} />
        Search finds the rows
      </button>
      <p id="search-cost" className={styles.muted}>
        {lacking !== undefined && <>{lacking} </>}
        It costs disk, not time: some 220 bytes of the index for a row of 200 (100,000 rows take 22 MB), and
        the processor for a while when it is switched on. A thousand rows are found at once, more of them
        follow in the background. What is switched off is forgotten by the index, never by the testset.
      </p>
      {error && <Failure error={error} />}
    </section>
  )
}
