/*
A machine as a unit for co-simulation, FMI 3.0 or 2.0 (fmi-standard.org).

machine.h is written for each machine. It defines FMI (2 or 3), LEGS, STEP [s], TOKEN, the size of the kernels'
MEMORY, NUMBERS of all variables, their value references by block, and the arrays BODY, ROWS, START_VALUES and NAMES.
unit_advance and unit_measure are the package's own kernels, compiled to machine code without Python.

An instance owns all that it changes, so instances do not disturb each other, also in several threads.
*/

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define EXPORTED __attribute__((visibility("default")))

/* Kernels return through `result`; they raise nothing, so `error` stays untouched. */
int unit_advance(int64_t *result, void **error, const double *body, const double *rows, int64_t legs, double *state,
                 const double *load, double step, double *memory);
int unit_measure(double *result, void **error, const double *rows, int64_t legs, const double *state,
                 double *coordinates_and_rates, double *memory);

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Outcome;
typedef enum { MADE, INITIALISING, STEPPING, FAILED, ENDED } Mode;

static const double OFF_CONSTRAINTS = 1e-9; /* [m, rad; per s], relative to a twist above one */
static const double OFF_QUATERNION = 1e-6;  /* of a norm of one */
static const double OFF_TIME = 1e-6;        /* steps between the clocks of importer and unit */
static const double MOST_STEPS = 1e9;       /* in one communication step */

/* All that determines the future. */
typedef struct {
  double values[NUMBERS];
  Mode mode;
  int placed; /* whether outputs belong to the start that is set */
} Situation;

typedef void (*Report)(void *environment, const char *name, Outcome outcome, const char *message);

typedef struct {
  Situation now;
  double memory[MEMORY];
  void *environment;
  void *logger;
  char name[128];
} Unit;

static void report(const Unit *unit, Outcome outcome, const char *message);

static Outcome fail(const Unit *unit, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  report(unit, ERROR, message);
  return ERROR;
}

static Outcome refuse(const Unit *unit, const char *function) {
  return fail(unit, "%s: this unit cannot do it", function);
}

/* ---- the machine ---- */

/* Fill `body` with that of the platform and its payload; see twin/model/constants.py for the entries. */
static Outcome add_payload(const Unit *unit, double body[13]) {
  const double *values = unit->now.values;
  const double m = values[PAYLOAD_MASS], *c = values + PAYLOAD_CENTER, *t = values + PAYLOAD_INERTIA;
  const double half = 0.5 * (t[0] + t[1] + t[2]);
  /* A body has an inertia when the matrix of its second moments, half the trace less the tensor, has no negative
     eigenvalue: all principal minors are above zero, but for rounding. */
  const double p[3] = {half - t[0], half - t[1], half - t[2]}, small = 1e-9 * fabs(half), square = small * fabs(half);
  const double determinant = p[0] * (p[1] * p[2] - t[5] * t[5]) - t[3] * (t[3] * p[2] + t[5] * t[4]) -
                             t[4] * (t[3] * t[5] + p[1] * t[4]);
  bool possible = m >= 0 && p[0] >= -small && p[1] >= -small && p[2] >= -small;
  possible = possible && p[0] * p[1] - t[3] * t[3] >= -square && p[0] * p[2] - t[4] * t[4] >= -square &&
             p[1] * p[2] - t[5] * t[5] >= -square && determinant >= -square * fabs(half);
  if (!possible)
    return fail(unit, "payload: no body has mass %g kg and inertia %g, %g, %g, %g, %g, %g kg m2 (xx yy zz xy xz yz)",
                m, t[0], t[1], t[2], t[3], t[4], t[5]);
  const double distance = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  memcpy(body, BODY, sizeof BODY);
  body[0] += m;
  for (int k = 0; k < 3; k++) {
    body[1 + k] = (BODY[0] * BODY[1 + k] + m * c[k]) / body[0];
    body[4 + k] += t[k] + m * (distance - c[k] * c[k]);
  }
  body[7] += t[3] - m * c[0] * c[1];
  body[8] += t[4] - m * c[0] * c[2];
  body[9] += t[5] - m * c[1] * c[2];
  return OK;
}

static bool finite(const double *values, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!isfinite(values[k])) return false;
  return true;
}

/* Fill the outputs that follow from the state; return how far it is off the constraints, NaN where a leg is. */
static double measure(Unit *unit) {
  double off = 0.0, measured[2 * LEGS];
  void *error = NULL;
  double *values = unit->now.values;
  unit_measure(&off, &error, ROWS, LEGS, values + STATE, measured, unit->memory);
  if (!finite(measured, 2 * LEGS)) return NAN;
  memcpy(values + COORDINATES, measured, LEGS * sizeof(double));
  memcpy(values + RATES, measured + LEGS, LEGS * sizeof(double));
  return off;
}

/* Put the machine at the start that is set. */
static Outcome place(Unit *unit) {
  double *values = unit->now.values, *state = values + STATE, norm = 0.0, size = 1.0;
  if (unit->now.placed) return OK;
  double body[13];
  if (add_payload(unit, body) != OK) return ERROR;
  memcpy(state, values + START, (COORDINATES - STATE) * sizeof(double));
  for (int k = 3; k < 7; k++) norm += state[k] * state[k];
  norm = sqrt(norm);
  if (!(fabs(norm - 1.0) <= OFF_QUATERNION))
    return fail(unit, "start.pose: the quaternion must have norm 1, got %.9g", norm);
  for (int k = 3; k < 7; k++) state[k] /= norm;
  for (int k = 7; k < 13; k++) size = fmax(size, fabs(state[k]));
  const double off = measure(unit);
  if (isnan(off)) return fail(unit, "start.pose: a leg cannot reach it; start closer to home");
  if (!(off <= OFF_CONSTRAINTS * size))
    return fail(unit, "start.pose, start.twist: the legs do not allow them (off by %.3g); "
                      "platform.constrain of the Python package gives what fits", off);
  unit->now.placed = true;
  return OK;
}

/* Advance to `time + span`; on failure the state is the last that exists. */
static Outcome advance(Unit *unit, double time, double span) {
  double *values = unit->now.values, body[13];
  if (unit->now.mode == FAILED)
    return fail(unit, "doStep: the unit has failed; reset it or restore an earlier state");
  if (unit->now.mode != STEPPING) return fail(unit, "doStep: initialise the unit before");
  if (!(span > 0.0) || !(span <= MOST_STEPS * STEP))
    return fail(unit, "doStep: the step must be above zero and at most %g s, got %g s", MOST_STEPS * STEP, span);
  if (!(fabs(time - values[TIME]) <= OFF_TIME * STEP + 4e-16 * fabs(time)))
    return fail(unit, "doStep: the unit is at %.9g s, not at %.9g s", values[TIME], time);
  if (add_payload(unit, body) != OK) return ERROR;
  const double exact = span / STEP, whole = fmax(1.0, ceil(exact - OFF_TIME));
  const double step = fabs(exact - whole) <= OFF_TIME ? STEP : span / whole;
  double before[COORDINATES - STATE];
  for (double done = 0.0; done < whole; done++) {
    int64_t regular = 0;
    void *error = NULL;
    memcpy(before, values + STATE, sizeof before);
    unit_advance(&regular, &error, body, ROWS, LEGS, values + STATE, values + FORCES, step, unit->memory);
    if (!regular || !finite(values + STATE, COORDINATES - STATE) || isnan(measure(unit))) {
      memcpy(values + STATE, before, sizeof before);
      measure(unit);
      values[TIME] = time + done * step;
      unit->now.mode = FAILED;
      return fail(unit, "doStep: no state after %.9g s: the pose is singular (a leg without length, along its joint's "
                        "first axis or stretched) or the numbers overflow", values[TIME]);
    }
  }
  memcpy(values + APPLIED, values + FORCES, LEGS * sizeof(double));
  values[TIME] = time + span;
  return OK;
}

/* ---- what both versions of FMI do ---- */

static void *make(const char *name, const char *token, void *environment, void *logger) {
  Unit *unit = calloc(1, sizeof *unit);
  if (!unit) return NULL;
  snprintf(unit->name, sizeof unit->name, "%s", name ? name : "");
  unit->environment = environment;
  unit->logger = logger;
  memcpy(unit->now.values, START_VALUES, sizeof START_VALUES);
  if (token && strcmp(token, TOKEN) == 0) return unit;
  fail(unit, "instantiate: the token is not that of the model description");
  free(unit);
  return NULL;
}

static Outcome reset(Unit *unit) {
  memset(&unit->now, 0, sizeof unit->now);
  memcpy(unit->now.values, START_VALUES, sizeof START_VALUES);
  return OK;
}

static Outcome initialise(Unit *unit, double time) {
  if (unit->now.mode != MADE) return fail(unit, "enterInitializationMode: the unit is initialised; reset it before");
  if (!isfinite(time)) return fail(unit, "enterInitializationMode: the start time must be a number");
  unit->now.values[TIME] = time;
  unit->now.mode = INITIALISING;
  return OK;
}

static Outcome begin(Unit *unit) {
  if (unit->now.mode != INITIALISING) return fail(unit, "exitInitializationMode: enter it before");
  if (place(unit) != OK) return ERROR;
  unit->now.mode = STEPPING;
  return OK;
}

static Outcome end(Unit *unit) {
  unit->now.mode = ENDED;
  return OK;
}

static Outcome get(Unit *unit, const uint32_t references[], size_t count, double found[], size_t room) {
  if (room != count) return fail(unit, "get: %zu values for %zu variables", room, count);
  for (size_t k = 0; k < count; k++) {
    if (references[k] >= NUMBERS) return fail(unit, "get: there is no variable %u", (unsigned)references[k]);
    if (references[k] >= STATE && place(unit) != OK) return ERROR;
    found[k] = unit->now.values[references[k]];
  }
  return OK;
}

static Outcome set(Unit *unit, const uint32_t references[], size_t count, const double given[], size_t room) {
  if (room != count) return fail(unit, "set: %zu values for %zu variables", room, count);
  for (size_t k = 0; k < count; k++) {
    const uint32_t which = references[k];
    if (which >= NUMBERS) return fail(unit, "set: there is no variable %u", (unsigned)which);
    if (which == TIME || which >= STATE) return fail(unit, "set: %s is an output", NAMES[which]);
    if (which >= START && unit->now.mode > INITIALISING)
      return fail(unit, "set: %s is fixed after the initialisation", NAMES[which]);
    if (!isfinite(given[k])) return fail(unit, "set: %s must be a number", NAMES[which]);
    if (which >= PAYLOAD_MASS && unit->now.mode <= INITIALISING) unit->now.placed = false;
    unit->now.values[which] = given[k];
  }
  return OK;
}

static Outcome keep(const Unit *unit, void **kept) {
  if (!*kept) *kept = malloc(sizeof unit->now);
  if (!*kept) return fail(unit, "getFMUState: no memory is left");
  memcpy(*kept, &unit->now, sizeof unit->now);
  return OK;
}

static Outcome restore(Unit *unit, const void *kept) {
  if (!kept) return fail(unit, "setFMUState: there is no state");
  memcpy(&unit->now, kept, sizeof unit->now);
  return OK;
}

static Outcome drop(void **kept) {
  free(*kept);
  *kept = NULL;
  return OK;
}

static const size_t SERIALISED = sizeof TOKEN + sizeof(Situation);

static Outcome serialise(const Unit *unit, const void *kept, void *bytes, size_t size) {
  if (!kept || size < SERIALISED) return fail(unit, "serializeFMUState: it takes %zu bytes", SERIALISED);
  memcpy(bytes, TOKEN, sizeof TOKEN);
  memcpy((char *)bytes + sizeof TOKEN, kept, sizeof(Situation));
  return OK;
}

static Outcome deserialise(const Unit *unit, const void *bytes, size_t size, void **kept) {
  Situation read;
  if (size < SERIALISED || memcmp(bytes, TOKEN, sizeof TOKEN) != 0)
    return fail(unit, "deserializeFMUState: the bytes are not a state of this unit");
  memcpy(&read, (const char *)bytes + sizeof TOKEN, sizeof read);
  if (!finite(read.values, NUMBERS) || read.mode > ENDED)
    return fail(unit, "deserializeFMUState: the bytes are damaged");
  if (!*kept) *kept = malloc(sizeof read);
  if (!*kept) return fail(unit, "deserializeFMUState: no memory is left");
  memcpy(*kept, &read, sizeof read);
  return OK;
}

/* ---- interface: types as in the standard's headers, with which a test compares all declarations ---- */

#if FMI == 3
#define CALL(name) fmi3##name
#define STATE_CALL(name) fmi3##name##FMUState
#define SIZE_CALL fmi3SerializedFMUStateSize
#define DESERIALIZE_CALL fmi3DeserializeFMUState
typedef uint8_t Byte;
typedef bool Flag;
#ifdef STANDARD_HEADERS
#include "fmi3Functions.h"
#else
typedef Outcome fmi3Status;
typedef int fmi3DependencyKind, fmi3IntervalQualifier;
#endif
#else
#define CALL(name) fmi2##name
#define STATE_CALL(name) fmi2##name##FMUstate
#define SIZE_CALL fmi2SerializedFMUstateSize
#define DESERIALIZE_CALL fmi2DeSerializeFMUstate
typedef char Byte;
typedef int Flag;
#ifdef STANDARD_HEADERS
#include "fmi2Functions.h"
#else
typedef Outcome fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef int fmi2StatusKind;
typedef struct {
  void (*logger)(void *, const char *, fmi2Status, const char *, const char *, ...);
  void *(*allocateMemory)(size_t, size_t);
  void (*freeMemory)(void *);
  void (*stepFinished)(void *, fmi2Status);
  void *componentEnvironment;
} fmi2CallbackFunctions;
#endif
#endif

typedef CALL(Status) Status;
#define FUNCTION(name, ...) EXPORTED Status name(void *instance, ##__VA_ARGS__)
#define DEFINE(name, ...) FUNCTION(CALL(name), ##__VA_ARGS__)
#define REFERENCES const uint32_t references[], size_t count
#define REFUSE(name, ...) \
  DEFINE(name, ##__VA_ARGS__) { return (Status)refuse(instance, #name); }
/* Getters and setters of types without a variable do nothing when nothing is asked. */
#define NONE(name, ...) \
  DEFINE(name, REFERENCES, ##__VA_ARGS__) { return (Status)(count ? refuse(instance, #name) : OK); }

EXPORTED const char *CALL(GetVersion)(void) { return FMI == 3 ? "3.0" : "2.0"; }
EXPORTED void CALL(FreeInstance)(void *instance) { free(instance); }
DEFINE(SetDebugLogging, Flag on, size_t count, const char *const categories[]) { return (Status)OK; }
DEFINE(ExitInitializationMode) { return (Status)begin(instance); }
DEFINE(Terminate) { return (Status)end(instance); }
DEFINE(Reset) { return (Status)reset(instance); }
FUNCTION(STATE_CALL(Get), void **kept) { return (Status)keep(instance, kept); }
FUNCTION(STATE_CALL(Set), void *kept) { return (Status)restore(instance, kept); }
FUNCTION(STATE_CALL(Free), void **kept) { return (Status)drop(kept); }
FUNCTION(SIZE_CALL, void *kept, size_t *size) { return *size = SERIALISED, (Status)OK; }
FUNCTION(STATE_CALL(Serialize), void *kept, Byte bytes[], size_t size) {
  return (Status)serialise(instance, kept, bytes, size);
}
FUNCTION(DESERIALIZE_CALL, const Byte bytes[], size_t size, void **kept) {
  return (Status)deserialise(instance, bytes, size, kept);
}

#if FMI == 3

typedef void Log(void *environment, Status status, const char *category, const char *message);
typedef void Update(void *, double, bool, bool, bool, bool, bool *, double *);

static void report(const Unit *unit, Outcome outcome, const char *message) {
  if (unit->logger) ((Log *)unit->logger)(unit->environment, (Status)outcome, "logStatusError", message);
}

EXPORTED void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                           bool logging, bool events, bool early, const uint32_t intermediate[],
                                           size_t intermediates, void *environment, Log *logger, Update *update) {
  return make(name, token, environment, (void *)logger);
}

EXPORTED void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                            bool logging, void *environment, Log *logger) {
  return NULL;
}

EXPORTED void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources,
                                                 bool visible, bool logging, void *environment, Log *logger,
                                                 void (*update)(void *), void (*lock)(), void (*unlock)()) {
  return NULL;
}

DEFINE(EnterInitializationMode, bool toleranced, double tolerance, double time, bool ends, double stop) {
  return (Status)initialise(instance, time);
}
DEFINE(GetFloat64, REFERENCES, double values[], size_t room) {
  return (Status)get(instance, references, count, values, room);
}
DEFINE(SetFloat64, REFERENCES, const double values[], size_t room) {
  return (Status)set(instance, references, count, values, room);
}
DEFINE(DoStep, double time, double span, bool forward, bool *event, bool *stop, bool *early, double *reached) {
  const Outcome outcome = advance(instance, time, span);
  *event = *stop = *early = false;
  *reached = ((Unit *)instance)->now.values[TIME];
  return (Status)outcome;
}

#define NONE_OF(name, type) \
  NONE(Get##name, type values[], size_t room) \
  NONE(Set##name, const type values[], size_t room)
NONE_OF(Float32, float)
NONE_OF(Int8, int8_t)
NONE_OF(UInt8, uint8_t)
NONE_OF(Int16, int16_t)
NONE_OF(UInt16, uint16_t)
NONE_OF(Int32, int32_t)
NONE_OF(UInt32, uint32_t)
NONE_OF(Int64, int64_t)
NONE_OF(UInt64, uint64_t)
NONE_OF(Boolean, bool)
NONE(GetString, const char *values[], size_t room)
NONE(SetString, const char *const values[], size_t room)
NONE(GetBinary, size_t sizes[], const uint8_t *values[], size_t room)
NONE(SetBinary, const size_t sizes[], const uint8_t *const values[], size_t room)
NONE(GetClock, bool values[])
NONE(SetClock, const bool values[])
REFUSE(GetNumberOfVariableDependencies, uint32_t reference, size_t *found)
REFUSE(GetVariableDependencies, uint32_t reference, size_t dependent[], uint32_t independents[], size_t elements[],
       fmi3DependencyKind kinds[], size_t count)
REFUSE(GetDirectionalDerivative, REFERENCES, const uint32_t knowns[], size_t known, const double seed[], size_t seeds,
       double sensitivity[], size_t room)
REFUSE(GetAdjointDerivative, REFERENCES, const uint32_t knowns[], size_t known, const double seed[], size_t seeds,
       double sensitivity[], size_t room)
REFUSE(EnterConfigurationMode)
REFUSE(ExitConfigurationMode)
REFUSE(GetIntervalDecimal, REFERENCES, double intervals[], fmi3IntervalQualifier qualifiers[])
REFUSE(GetIntervalFraction, REFERENCES, uint64_t counters[], uint64_t resolutions[], fmi3IntervalQualifier qualifiers[])
REFUSE(GetShiftDecimal, REFERENCES, double shifts[])
REFUSE(GetShiftFraction, REFERENCES, uint64_t counters[], uint64_t resolutions[])
REFUSE(SetIntervalDecimal, REFERENCES, const double intervals[])
REFUSE(SetIntervalFraction, REFERENCES, const uint64_t counters[], const uint64_t resolutions[])
REFUSE(SetShiftDecimal, REFERENCES, const double shifts[])
REFUSE(SetShiftFraction, REFERENCES, const uint64_t counters[], const uint64_t resolutions[])
REFUSE(EvaluateDiscreteStates)
REFUSE(UpdateDiscreteStates, bool *again, bool *stop, bool *nominals, bool *states, bool *defined, double *next)
REFUSE(EnterEventMode)
REFUSE(EnterStepMode)
REFUSE(GetOutputDerivatives, REFERENCES, const int32_t orders[], double values[], size_t room)
REFUSE(EnterContinuousTimeMode)
REFUSE(CompletedIntegratorStep, bool forward, bool *event, bool *stop)
REFUSE(SetTime, double time)
REFUSE(SetContinuousStates, const double states[], size_t count)
REFUSE(GetContinuousStateDerivatives, double derivatives[], size_t count)
REFUSE(GetEventIndicators, double indicators[], size_t count)
REFUSE(GetContinuousStates, double states[], size_t count)
REFUSE(GetNominalsOfContinuousStates, double nominals[], size_t count)
REFUSE(GetNumberOfEventIndicators, size_t *count)
REFUSE(GetNumberOfContinuousStates, size_t *count)
REFUSE(ActivateModelPartition, uint32_t clock, double time)

#else

typedef void Log(void *environment, const char *name, Status status, const char *category, const char *message, ...);

static void report(const Unit *unit, Outcome outcome, const char *message) {
  if (unit->logger) ((Log *)unit->logger)(unit->environment, unit->name, (Status)outcome, "logStatusError", "%s", message);
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }

EXPORTED void *fmi2Instantiate(const char *name, fmi2Type type, const char *token, const char *resources,
                               const fmi2CallbackFunctions *callbacks, int visible, int logging) {
  if (type != fmi2CoSimulation || !callbacks) return NULL;
  return make(name, token, callbacks->componentEnvironment, (void *)callbacks->logger);
}

DEFINE(SetupExperiment, int toleranced, double tolerance, double time, int ends, double stop) {
  Unit *unit = instance;
  if (unit->now.mode != MADE) return (Status)fail(unit, "setupExperiment: the unit is initialised; reset it before");
  unit->now.values[TIME] = time;
  return (Status)OK;
}
DEFINE(EnterInitializationMode) { return (Status)initialise(instance, ((Unit *)instance)->now.values[TIME]); }
DEFINE(GetReal, REFERENCES, double values[]) { return (Status)get(instance, references, count, values, count); }
DEFINE(SetReal, REFERENCES, const double values[]) { return (Status)set(instance, references, count, values, count); }
DEFINE(DoStep, double time, double span, int forward) { return (Status)advance(instance, time, span); }
DEFINE(GetRealStatus, const fmi2StatusKind kind, double *value) {
  if (kind != 2) return (Status)DISCARD; /* only the last successful time is known */
  *value = ((Unit *)instance)->now.values[TIME];
  return (Status)OK;
}

DEFINE(GetStatus, const fmi2StatusKind kind, Status *value) { return (Status)DISCARD; }
DEFINE(GetIntegerStatus, const fmi2StatusKind kind, int *value) { return (Status)DISCARD; }
DEFINE(GetBooleanStatus, const fmi2StatusKind kind, int *value) { return (Status)DISCARD; }
DEFINE(GetStringStatus, const fmi2StatusKind kind, const char **value) { return (Status)DISCARD; }
NONE(GetInteger, int values[])
NONE(SetInteger, const int values[])
NONE(GetBoolean, int values[])
NONE(SetBoolean, const int values[])
NONE(GetString, const char *values[])
NONE(SetString, const char *const values[])
NONE(SetRealInputDerivatives, const int orders[], const double values[])
NONE(GetRealOutputDerivatives, const int orders[], double values[])
REFUSE(CancelStep)
REFUSE(GetDirectionalDerivative, REFERENCES, const uint32_t knowns[], size_t known, const double seed[],
       double sensitivity[])

#endif
