// Pages of what the gateway has and how it is set, in one file: apart they would be a tenth larger.
import browser from "./browser.tsx"
import memory from "./memory.tsx"
import people from "./people.tsx"
import schedules from "./schedules.tsx"
import settings from "./settings.tsx"
import skills from "./skills.tsx"
import usage from "./usage.tsx"

export const things = { browser, memory, people, schedules, settings, skills, usage }
