// What bounds the agent and sets it going by the clock, as the API asks for it: caps, a pause, schedules. Types only.
import type { Allowed, CapAllowance, CapState } from "../budget/contract.ts"
import type { ScheduleDetail, ScheduleSummary, ScheduleWish } from "../schedules/contract.ts"

export interface BudgetLook {
  timeZone: string
  caps: CapState[]
  /** Calls of this month that were cut. */
  cut: { calls: number; tokens: number; dollars: number }
}

export interface BoundActions {
  budget: {
    look(): BudgetLook
    /** Throws `not-found` for what is no cap, `bad-request` for what cannot be allowed. */
    allow(cap: string, allowance: CapAllowance): Promise<Allowed>
  }
  /** By ids or their beginnings. All but the list and `add` throw `not-found`. */
  schedules: {
    list(query: { ended: boolean }): { schedules: ScheduleSummary[] }
    read(id: string): ScheduleDetail
    /** Throws `bad-request`, `not-found` for an agent, and what a route or a model throws. */
    /** The same key is the same wish. */
    add(wish: ScheduleWish, key: string | undefined): Promise<ScheduleDetail>
    run(id: string, key: string | undefined): Promise<{ runId: string; schedule: ScheduleDetail }>
    pause(id: string): Promise<ScheduleDetail>
    resume(id: string): Promise<ScheduleDetail>
    remove(id: string): Promise<ScheduleDetail>
  }
  pause: {
    look(): { paused: { at: number; by: string } | null }
    begin(): Promise<{ paused: { at: number; by: string } | null }>
    /** Throws `conflict` while nothing is paused. */
    end(): Promise<{ waiting: number }>
  }
}
