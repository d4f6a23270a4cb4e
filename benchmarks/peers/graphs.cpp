// The functions of pinocchio as CasADi graphs, in CasADi's form, with the outputs of kane's tasks of the same name.
// graphs MODEL FOLDER: MODEL is a text written by build.py; TASK.casadi files go to FOLDER.
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using casadi::SX;
typedef pinocchio::ModelTpl<SX> Model;
typedef pinocchio::DataTpl<SX> Data;
typedef Eigen::Matrix<SX, Eigen::Dynamic, 1> Vector;
typedef Eigen::Matrix<SX, Eigen::Dynamic, Eigen::Dynamic> Matrix;

// One joint a line: parent, type, rotation (row-major) and position of its frame, axis, mass, centre of mass, and the
// inertia about it (xx xy xz yy yz zz).
static pinocchio::Model read(const char *path) {
  pinocchio::Model model;
  std::ifstream file(path);
  int parent;
  std::string type;
  while (file >> parent >> type) {
    Eigen::Matrix3d R, I;
    Eigen::Vector3d p, axis, com;
    double m, t[6];
    for (int i = 0; i < 9; ++i) file >> R(i / 3, i % 3);
    for (int i = 0; i < 3; ++i) file >> p(i);
    for (int i = 0; i < 3; ++i) file >> axis(i);
    file >> m;
    for (int i = 0; i < 3; ++i) file >> com(i);
    for (double &x : t) file >> x;
    I << t[0], t[1], t[2], t[1], t[3], t[4], t[2], t[4], t[5];
    const pinocchio::SE3 at(R, p);
    const std::string name = "j" + std::to_string(model.njoints);
    pinocchio::JointIndex id;
    if (type == "RX") id = model.addJoint(parent, pinocchio::JointModelRX(), at, name);
    else if (type == "RY") id = model.addJoint(parent, pinocchio::JointModelRY(), at, name);
    else if (type == "RZ") id = model.addJoint(parent, pinocchio::JointModelRZ(), at, name);
    else if (type == "PX") id = model.addJoint(parent, pinocchio::JointModelPX(), at, name);
    else if (type == "PY") id = model.addJoint(parent, pinocchio::JointModelPY(), at, name);
    else if (type == "PZ") id = model.addJoint(parent, pinocchio::JointModelPZ(), at, name);
    else if (type == "R") id = model.addJoint(parent, pinocchio::JointModelRevoluteUnaligned(axis), at, name);
    else if (type == "P") id = model.addJoint(parent, pinocchio::JointModelPrismaticUnaligned(axis), at, name);
    else { std::cerr << "joint type " << type << " is not known here\n"; std::exit(2); }
    model.appendBodyToJoint(id, pinocchio::Inertia(m, com, I), pinocchio::SE3::Identity());
  }
  return model;
}

static Vector vector(const SX &x) {
  Vector v(x.size1());
  for (int i = 0; i < x.size1(); ++i) v(i) = x(i);
  return v;
}

// Dense, row after row: the order in which kane stores a matrix.
static SX rows(const Matrix &M) {
  SX x = SX::zeros(M.rows() * M.cols());
  for (int i = 0; i < M.rows(); ++i)
    for (int j = 0; j < M.cols(); ++j) x(i * M.cols() + j) = M(i, j);
  return SX::densify(x);
}

static Matrix symmetric(const Matrix &M) {
  Matrix S = M;
  for (int i = 0; i < M.rows(); ++i)
    for (int j = 0; j < i; ++j) S(i, j) = M(j, i);
  return S;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const Model model = read(argv[1]).cast<SX>();
  Data data(model);
  const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), a = SX::sym("a", model.nv);
  const Vector Q = vector(q), V = vector(v), A = vector(a);
  const auto save = [&](const char *name, const std::vector<SX> &in, const std::vector<SX> &out) {
    casadi::Function(name, in, out).save(std::string(argv[2]) + "/" + name + ".casadi");
  };
  save("inverse_dynamics", {q, v, a}, {rows(pinocchio::rnea(model, data, Q, V, A))});
  save("mass_matrix", {q}, {rows(symmetric(pinocchio::crba(model, data, Q, pinocchio::Convention::LOCAL)))});
  save("forward_dynamics", {q, v, a}, {rows(pinocchio::aba(model, data, Q, V, A, pinocchio::Convention::LOCAL))});
  const int n = model.nv;
  Matrix by_q = Matrix::Zero(n, n), by_v = Matrix::Zero(n, n), by_a = Matrix::Zero(n, n);
  pinocchio::computeRNEADerivatives(model, data, Q, V, A, by_q, by_v, by_a);
  save("inverse_dynamics_derivatives", {q, v, a}, {rows(by_q), rows(by_v), rows(symmetric(by_a))});
  by_q.setZero(), by_v.setZero(), by_a.setZero();
  pinocchio::computeABADerivatives(model, data, Q, V, A, by_q, by_v, by_a);
  save("forward_dynamics_derivatives", {q, v, a}, {rows(by_q), rows(by_v), rows(symmetric(by_a))});
  return 0;
}
